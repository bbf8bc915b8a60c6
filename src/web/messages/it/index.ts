import { translation } from '../translation.ts'
import { itAfter } from './after.ts'
import { itBefore } from './before.ts'
import { itLink } from './link.ts'

/** The texts of the checkout in Italian. How they came about: docs/translations.md. */
export const it = translation({
  'page.skip': 'Vai al pagamento',
  'page.test_mode': 'Modalità di prova',
  'page.test': 'Prova',
  'page.test.text': 'Nessun denaro reale viene spostato.',
  'page.footer': 'Pagina di pagamento di Pinrail',
  'page.whole': 'Apri a pagina intera',
  'page.language': 'Lingua',

  'title.pay': 'Pagamento di {amount} a {merchant}',
  'title.state': '{state}: {amount} a {merchant}',
  'title.unpaid': 'Non ancora pagato',
  'title.not_offered': 'Non possibile da qui',
  'title.tries': 'Avviato troppe volte',
  'title.declined': 'Rifiutato',
  'title.checking_with': 'Verifica presso {partner}',
  'title.verification': 'Verifica dell’identità',
  'title.progress': 'In corso',
  'title.checking': 'In esame',
  'title.done': 'Pagato',
  'title.twice': 'Pagato due volte',
  'title.expired': 'Scaduto',
  'title.canceled': 'Annullato',
  'title.failed': 'Non riuscito',
  'title.refunded': 'Rimborsato',
  'title.receipt': 'Ricevuta di {merchant}',
  'title.receipt_test': 'Ricevuta di prova di {merchant}',

  'sum.pay': 'Da pagare',
  'sum.paid': 'Pagato',
  'sum.price': 'Prezzo',
  'sum.not_charged': 'Non addebitato',
  'sum.returned': 'Rimborsato',

  'panel.details': 'Dettagli di questo pagamento',
  'panel.order': 'Ordine',
  'panel.open_until': 'Aperto fino a',
  'panel.from': 'Paga da',
  'panel.question': 'Una domanda sul Suo ordine?',

  'stop.past': 'fatto',
  'stop.now': 'ora',
  'stop.since': 'dalle {time}',
  'stop.until': 'fino a: {time}',
  'rail.where': 'A che punto è il Suo pagamento',
  'rail.how': 'Come funziona',

  'shop.back': 'Torna a {merchant}',
  'copy.button': 'Copia',
  'copy.done': 'Copiato',

  'phone.title': 'Continua sul telefono',
  'phone.text': 'Inquadri questo codice o apra lì il link. I due dispositivi mostrano lo stesso pagamento.',
  'phone.code': 'Codice QR con il link a questo pagamento di {amount} a {merchant}',
  'phone.link': 'Link a questa pagina',

  'offline.heading': 'È offline.',
  'offline.goes_on': 'Il Suo pagamento va avanti.',
  'offline.waits': 'Questa pagina potrebbe non essere aggiornata.',
  'offline.last': 'Ultimo aggiornamento: {time}',

  'about.seconds': 'circa {count, plural, one {# secondo} many {# secondi} other {# secondi}}',
  'about.minutes': 'circa {count, plural, one {# minuto} many {# minuti} other {# minuti}}',

  ...itBefore,
  ...itAfter,
  ...itLink,

  'problem.back': 'Torna al pagamento',
  'problem.retry': 'Riprova',
  'problem.not_found.heading': 'Questo pagamento non esiste',
  'problem.not_found.text': 'Controlli di avere il link completo o ne chieda uno nuovo al negozio.',
  'problem.bad_request.heading': 'Non ha funzionato',
  'problem.bad_request.text': 'Ciò che il Suo browser ha inviato non è leggibile. Torni al pagamento e riprovi.',
  'problem.forbidden.heading': 'Inizi dalla pagina di pagamento',
  'problem.forbidden.text':
    'Questo passaggio è stato richiesto da un altro sito. Apra la pagina di pagamento e prema lì il pulsante.',
  'problem.method_not_allowed.heading': 'Non ha funzionato',
  'problem.method_not_allowed.text': 'Questo indirizzo serve solo ai pulsanti della pagina di pagamento.',
  'problem.unavailable.heading': 'Al momento il pagamento non può essere aperto',
  'problem.unavailable.text': 'Nulla è andato perso e non Le è stato addebitato nulla. Attenda un momento e riprovi.',
  'problem.busy.heading': 'Un momento, per favore',
  'problem.busy.text':
    'Al momento questa pagina non può essere mostrata. Il Suo pagamento non ne risente. Riprovi tra un momento.',
  'problem.internal.heading': 'Qualcosa è andato storto da parte nostra',
  'problem.internal.text': 'Il Suo pagamento non ne risente. Ricarichi questa pagina tra un momento.',
})
