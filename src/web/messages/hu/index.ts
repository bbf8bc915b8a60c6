import { translation } from '../translation.ts'
import { huAfter } from './after.ts'
import { huBefore } from './before.ts'
import { huLink } from './link.ts'

/** The texts of the checkout in Hungarian. How they came about: docs/translations.md. */
export const hu = translation({
  'page.skip': 'Ugrás a fizetéshez',
  'page.test_mode': 'Tesztüzemmód',
  'page.test': 'Teszt',
  'page.test.text': 'Nem mozog valódi pénz.',
  'page.footer': 'Fizetési oldal: Pinrail',
  'page.whole': 'Megnyitás teljes oldalként',
  'page.language': 'Nyelv',

  'title.pay': 'Fizetés: {amount}, {merchant}',
  'title.state': '{state}: {amount}, {merchant}',
  'title.unpaid': 'Még nincs kifizetve',
  'title.not_offered': 'Innen nem lehetséges',
  'title.tries': 'Túl sokszor elindítva',
  'title.declined': 'Elutasítva',
  'title.checking_with': 'Egyeztetés: {partner}',
  'title.verification': 'Személyazonosság ellenőrzése',
  'title.progress': 'Úton',
  'title.checking': 'Ellenőrzés alatt',
  'title.done': 'Kifizetve',
  'title.twice': 'Kétszer kifizetve',
  'title.expired': 'Lejárt',
  'title.canceled': 'Visszavonva',
  'title.failed': 'Nem sikerült',
  'title.refunded': 'Visszatérítve',
  'title.receipt': 'Nyugta: {merchant}',
  'title.receipt_test': 'Tesztnyugta: {merchant}',

  'sum.pay': 'Fizetendő',
  'sum.paid': 'Kifizetve',
  'sum.price': 'Ár',
  'sum.not_charged': 'Nincs terhelés',
  'sum.returned': 'Visszatérítve',

  'panel.details': 'A fizetés részletei',
  'panel.order': 'Rendelés',
  'panel.open_until': 'Nyitva eddig',
  'panel.from': 'Ország',
  'panel.question': 'Kérdése van a rendelésével kapcsolatban?',

  'stop.past': 'kész',
  'stop.now': 'most',
  'stop.since': '{time} óta',
  'stop.until': 'eddig: {time}',
  'rail.where': 'Hol tart a fizetése',
  'rail.how': 'Hogyan zajlik',

  'shop.back': 'Vissza ide: {merchant}',
  'copy.button': 'Másolás',
  'copy.done': 'Másolva',

  'phone.title': 'Folytatás telefonon',
  'phone.text':
    'Olvassa be ezt a kódot, vagy nyissa meg ott a hivatkozást. Mindkét eszköz ugyanazt a fizetést mutatja.',
  'phone.code': 'QR-kód a fizetés hivatkozásával: {amount}, {merchant}',
  'phone.link': 'Hivatkozás erre az oldalra',

  'offline.heading': 'Nincs internetkapcsolat.',
  'offline.goes_on': 'A fizetése folytatódik.',
  'offline.waits': 'Ez az oldal elavult lehet.',
  'offline.last': 'Utolsó frissítés: {time}',

  'about.seconds': 'kb. {count, plural, one {# másodperc} other {# másodperc}}',
  'about.minutes': 'kb. {count, plural, one {# perc} other {# perc}}',

  ...huBefore,
  ...huAfter,
  ...huLink,

  'problem.back': 'Vissza a fizetéshez',
  'problem.retry': 'Újra',
  'problem.not_found.heading': 'Nincs ilyen fizetés',
  'problem.not_found.text': 'Ellenőrizze, hogy megvan-e a teljes hivatkozás, vagy kérjen újat az üzlettől.',
  'problem.bad_request.heading': 'Ez nem sikerült',
  'problem.bad_request.text':
    'Nem tudtuk elolvasni, amit a böngészője küldött. Térjen vissza a fizetéshez, és próbálja újra.',
  'problem.forbidden.heading': 'Kérjük, a fizetési oldalról induljon',
  'problem.forbidden.text':
    'Ezt a lépést egy másik webhely kérte. Nyissa meg a fizetési oldalt, és ott nyomja meg a gombot.',
  'problem.method_not_allowed.heading': 'Ez nem sikerült',
  'problem.method_not_allowed.text': 'Ez a cím csak a fizetési oldal gombjaihoz való.',
  'problem.unavailable.heading': 'A fizetés most nem nyitható meg',
  'problem.unavailable.text': 'Semmi sem veszett el, és nem történt terhelés. Várjon egy kicsit, és próbálja újra.',
  'problem.busy.heading': 'Kis türelmet kérünk',
  'problem.busy.text': 'Ez az oldal most nem jeleníthető meg. A fizetését ez nem érinti. Próbálja újra kicsit később.',
  'problem.internal.heading': 'Nálunk hiba történt',
  'problem.internal.text': 'A fizetését ez nem érinti. Töltse be újra az oldalt kicsit később.',
})
