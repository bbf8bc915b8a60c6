import { translation } from '../translation.ts'
import { nlAfter } from './after.ts'
import { nlBefore } from './before.ts'
import { nlLink } from './link.ts'

/** The texts of the checkout in Dutch. How they came about: docs/translations.md. */
export const nl = translation({
  'page.skip': 'Naar de betaling',
  'page.test_mode': 'Testmodus',
  'page.test': 'Test',
  'page.test.text': 'Er gaat geen echt geld om.',
  'page.footer': 'Betaalpagina van Pinrail',
  'page.whole': 'Als volledige pagina openen',
  'page.language': 'Taal',

  'title.pay': '{amount} betalen aan {merchant}',
  'title.state': '{state}: {amount} aan {merchant}',
  'title.unpaid': 'Nog niet betaald',
  'title.not_offered': 'Niet mogelijk vanaf hier',
  'title.tries': 'Te vaak gestart',
  'title.declined': 'Geweigerd',
  'title.checking_with': 'Navraag bij {partner}',
  'title.verification': 'Identiteitscontrole',
  'title.progress': 'Onderweg',
  'title.checking': 'Wordt gecontroleerd',
  'title.done': 'Betaald',
  'title.twice': 'Dubbel betaald',
  'title.expired': 'Verlopen',
  'title.canceled': 'Geannuleerd',
  'title.failed': 'Niet gelukt',
  'title.refunded': 'Terugbetaald',
  'title.receipt': 'Betaalbewijs van {merchant}',
  'title.receipt_test': 'Testbetaalbewijs van {merchant}',

  'sum.pay': 'Te betalen',
  'sum.paid': 'Betaald',
  'sum.price': 'Prijs',
  'sum.not_charged': 'Niet afgeschreven',
  'sum.returned': 'Terugbetaald',

  'panel.details': 'Details van deze betaling',
  'panel.order': 'Bestelling',
  'panel.open_until': 'Open tot',
  'panel.from': 'U betaalt vanuit',
  'panel.question': 'Een vraag over uw bestelling?',

  'stop.past': 'klaar',
  'stop.now': 'nu',
  'stop.since': 'sinds {time}',
  'stop.until': 'tot {time}',
  'rail.where': 'Waar uw betaling is',
  'rail.how': 'Hoe het gaat',

  'shop.back': 'Terug naar {merchant}',
  'copy.button': 'Kopiëren',
  'copy.done': 'Gekopieerd',

  'phone.title': 'Verder op uw telefoon',
  'phone.text': 'Scan deze code of open de link daar. Beide apparaten tonen dezelfde betaling.',
  'phone.code': 'QR-code met de link naar deze betaling van {amount} aan {merchant}',
  'phone.link': 'Link naar deze pagina',

  'offline.heading': 'U bent offline.',
  'offline.goes_on': 'Uw betaling gaat door.',
  'offline.waits': 'Deze pagina is misschien niet meer actueel.',
  'offline.last': 'Laatst bijgewerkt: {time}',

  'about.seconds': 'ongeveer {count, plural, one {# seconde} other {# seconden}}',
  'about.minutes': 'ongeveer {count, plural, one {# minuut} other {# minuten}}',

  ...nlBefore,
  ...nlAfter,
  ...nlLink,

  'problem.back': 'Terug naar de betaling',
  'problem.retry': 'Opnieuw proberen',
  'problem.not_found.heading': 'Deze betaling bestaat niet',
  'problem.not_found.text': 'Controleer of u de volledige link hebt, of vraag de winkel om een nieuwe.',
  'problem.bad_request.heading': 'Dat is niet gelukt',
  'problem.bad_request.text':
    'Wat uw browser stuurde, was niet leesbaar. Ga terug naar de betaling en probeer het opnieuw.',
  'problem.forbidden.heading': 'Begin op de betaalpagina',
  'problem.forbidden.text': 'Deze stap is door een andere site gevraagd. Open de betaalpagina en druk daar op de knop.',
  'problem.method_not_allowed.heading': 'Dat is niet gelukt',
  'problem.method_not_allowed.text': 'Dit adres is alleen voor de knoppen van de betaalpagina.',
  'problem.unavailable.heading': 'De betaling kan nu niet worden geopend',
  'problem.unavailable.text': 'Er is niets verloren en er is niets afgeschreven. Wacht even en probeer het opnieuw.',
  'problem.busy.heading': 'Een ogenblik geduld',
  'problem.busy.text':
    'Deze pagina kan nu niet worden getoond. Uw betaling heeft er geen last van. Probeer het zo opnieuw.',
  'problem.internal.heading': 'Er ging aan onze kant iets mis',
  'problem.internal.text': 'Uw betaling heeft er geen last van. Laad deze pagina zo opnieuw.',
})
