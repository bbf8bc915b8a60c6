import { translation } from '../translation.ts'
import { roAfter } from './after.ts'
import { roBefore } from './before.ts'
import { roLink } from './link.ts'

/** The texts of the checkout in Romanian. How they came about: docs/translations.md. */
export const ro = translation({
  'page.skip': 'Mergeți la plată',
  'page.test_mode': 'Mod de test',
  'page.test': 'Test',
  'page.test.text': 'Nu se transferă bani reali.',
  'page.footer': 'Pagină de plată Pinrail',
  'page.whole': 'Deschideți ca pagină întreagă',
  'page.language': 'Limbă',

  'title.pay': 'Plătiți {amount} către {merchant}',
  'title.state': '{state}: {amount} către {merchant}',
  'title.unpaid': 'Încă neplătită',
  'title.not_offered': 'Nu este posibilă de aici',
  'title.tries': 'Începută de prea multe ori',
  'title.declined': 'Respinsă',
  'title.checking_with': 'Se verifică la {partner}',
  'title.verification': 'Verificarea identității',
  'title.progress': 'Pe drum',
  'title.checking': 'În verificare',
  'title.done': 'Plătită',
  'title.twice': 'Plătită de două ori',
  'title.expired': 'Expirată',
  'title.canceled': 'Anulată',
  'title.failed': 'Nu a reușit',
  'title.refunded': 'Returnată',
  'title.receipt': 'Confirmare de plată de la {merchant}',
  'title.receipt_test': 'Confirmare de test de la {merchant}',

  'sum.pay': 'De plătit',
  'sum.paid': 'Plătit',
  'sum.price': 'Preț',
  'sum.not_charged': 'Fără debitare',
  'sum.returned': 'Returnat',

  'panel.details': 'Detaliile acestei plăți',
  'panel.order': 'Comandă',
  'panel.open_until': 'Deschisă până la',
  'panel.from': 'Plătiți din',
  'panel.question': 'O întrebare despre comandă?',

  'stop.past': 'gata',
  'stop.now': 'acum',
  'stop.since': 'de la {time}',
  'stop.until': 'până la {time}',
  'rail.where': 'Unde se află plata dumneavoastră',
  'rail.how': 'Cum decurge',

  'shop.back': 'Înapoi la {merchant}',
  'copy.button': 'Copiați',
  'copy.done': 'Copiat',

  'phone.title': 'Continuați pe telefon',
  'phone.text': 'Scanați acest cod sau deschideți acolo linkul. Ambele dispozitive arată aceeași plată.',
  'phone.code': 'Cod QR cu linkul acestei plăți de {amount} către {merchant}',
  'phone.link': 'Linkul acestei pagini',

  'offline.heading': 'Nu aveți conexiune.',
  'offline.goes_on': 'Plata dumneavoastră continuă.',
  'offline.waits': 'Este posibil ca această pagină să nu fie la zi.',
  'offline.last': 'Ultima actualizare: {time}',

  'about.seconds': 'aproximativ {count, plural, one {# secundă} few {# secunde} other {# de secunde}}',
  'about.minutes': 'aproximativ {count, plural, one {# minut} few {# minute} other {# de minute}}',

  ...roBefore,
  ...roAfter,
  ...roLink,

  'problem.back': 'Înapoi la plată',
  'problem.retry': 'Încercați din nou',
  'problem.not_found.heading': 'Această plată nu există',
  'problem.not_found.text': 'Verificați dacă aveți linkul întreg sau cereți altul magazinului.',
  'problem.bad_request.heading': 'Nu a funcționat',
  'problem.bad_request.text':
    'Datele trimise de browser nu au putut fi citite. Reveniți la plată și încercați din nou.',
  'problem.forbidden.heading': 'Începeți de pe pagina de plată',
  'problem.forbidden.text': 'Acest pas a fost cerut de alt site. Deschideți pagina de plată și apăsați acolo butonul.',
  'problem.method_not_allowed.heading': 'Nu a funcționat',
  'problem.method_not_allowed.text': 'Această adresă este doar pentru butoanele paginii de plată.',
  'problem.unavailable.heading': 'Plata nu poate fi deschisă acum',
  'problem.unavailable.text': 'Nu s-a pierdut nimic și nu s-a debitat nimic. Așteptați puțin și încercați din nou.',
  'problem.busy.heading': 'Un moment, vă rugăm',
  'problem.busy.text':
    'Această pagină nu poate fi afișată acum. Plata dumneavoastră nu este afectată. Încercați din nou peste puțin timp.',
  'problem.internal.heading': 'Ceva nu a mers la noi',
  'problem.internal.text': 'Plata dumneavoastră nu este afectată. Reîncărcați pagina peste puțin timp.',
})
