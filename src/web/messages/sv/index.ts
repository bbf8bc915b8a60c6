import { translation } from '../translation.ts'
import { svAfter } from './after.ts'
import { svBefore } from './before.ts'
import { svLink } from './link.ts'

/** The texts of the checkout in Swedish. How they came about: docs/translations.md. */
export const sv = translation({
  'page.skip': 'Hoppa till betalningen',
  'page.test_mode': 'Testläge',
  'page.test': 'Test',
  'page.test.text': 'Inga riktiga pengar flyttas.',
  'page.footer': 'Betalsida från Pinrail',
  'page.whole': 'Öppna som hel sida',
  'page.language': 'Språk',

  'title.pay': 'Betala {amount} till {merchant}',
  'title.state': '{state}: {amount} till {merchant}',
  'title.unpaid': 'Inte betald än',
  'title.not_offered': 'Inte möjlig härifrån',
  'title.tries': 'Påbörjad för många gånger',
  'title.declined': 'Nekad',
  'title.checking_with': 'Kontrolleras med {partner}',
  'title.verification': 'Identitetskontroll',
  'title.progress': 'På väg',
  'title.checking': 'Granskas',
  'title.done': 'Betald',
  'title.twice': 'Betald två gånger',
  'title.expired': 'Utgången',
  'title.canceled': 'Avbruten',
  'title.failed': 'Gick inte igenom',
  'title.refunded': 'Återbetald',
  'title.receipt': 'Kvitto från {merchant}',
  'title.receipt_test': 'Testkvitto från {merchant}',

  'sum.pay': 'Att betala',
  'sum.paid': 'Betalt',
  'sum.price': 'Pris',
  'sum.not_charged': 'Ej debiterat',
  'sum.returned': 'Återbetalt',

  'panel.details': 'Detaljer om betalningen',
  'panel.order': 'Beställning',
  'panel.open_until': 'Öppen till',
  'panel.from': 'Du betalar från',
  'panel.question': 'En fråga om din beställning?',

  'stop.past': 'klart',
  'stop.now': 'nu',
  'stop.since': 'sedan {time}',
  'stop.until': 'till {time}',
  'rail.where': 'Var din betalning är',
  'rail.how': 'Så går det till',

  'shop.back': 'Tillbaka till {merchant}',
  'copy.button': 'Kopiera',
  'copy.done': 'Kopierat',

  'phone.title': 'Fortsätt på telefonen',
  'phone.text': 'Skanna koden eller öppna länken där. Båda enheterna visar samma betalning.',
  'phone.code': 'QR-kod med länken till betalningen på {amount} till {merchant}',
  'phone.link': 'Länk till den här sidan',

  'offline.heading': 'Du är offline.',
  'offline.goes_on': 'Din betalning fortsätter.',
  'offline.waits': 'Sidan kan vara inaktuell.',
  'offline.last': 'Senast uppdaterad: {time}',

  'about.seconds': 'ungefär {count, plural, one {# sekund} other {# sekunder}}',
  'about.minutes': 'ungefär {count, plural, one {# minut} other {# minuter}}',

  ...svBefore,
  ...svAfter,
  ...svLink,

  'problem.back': 'Tillbaka till betalningen',
  'problem.retry': 'Försök igen',
  'problem.not_found.heading': 'Betalningen finns inte',
  'problem.not_found.text': 'Kontrollera att du har hela länken eller be butiken om en ny.',
  'problem.bad_request.heading': 'Det gick inte',
  'problem.bad_request.text':
    'Det som webbläsaren skickade gick inte att läsa. Gå tillbaka till betalningen och försök igen.',
  'problem.forbidden.heading': 'Börja på betalsidan',
  'problem.forbidden.text': 'En annan webbplats bad om det här steget. Öppna betalsidan och tryck på knappen där.',
  'problem.method_not_allowed.heading': 'Det gick inte',
  'problem.method_not_allowed.text': 'Adressen är bara till för betalsidans knappar.',
  'problem.unavailable.heading': 'Betalningen går inte att öppna just nu',
  'problem.unavailable.text': 'Inget har gått förlorat och inget har dragits. Vänta en stund och försök igen.',
  'problem.busy.heading': 'Ett ögonblick',
  'problem.busy.text': 'Sidan kan inte visas just nu. Din betalning påverkas inte. Försök igen om en stund.',
  'problem.internal.heading': 'Något gick fel hos oss',
  'problem.internal.text': 'Din betalning påverkas inte. Ladda om sidan om en stund.',
})
