import { translation } from '../translation.ts'
import { deAfter } from './after.ts'
import { deBefore } from './before.ts'
import { deLink } from './link.ts'

/** The texts of the checkout in German. How they came about: docs/translations.md. */
export const de = translation({
  'page.skip': 'Zur Zahlung springen',
  'page.test_mode': 'Testmodus',
  'page.test': 'Test',
  'page.test.text': 'Es fließt kein echtes Geld.',
  'page.footer': 'Zahlungsseite von Pinrail',
  'page.whole': 'Als ganze Seite öffnen',
  'page.language': 'Sprache',

  'title.pay': '{amount} an {merchant} zahlen',
  'title.state': '{state}: {amount} an {merchant}',
  'title.unpaid': 'Noch nicht bezahlt',
  'title.not_offered': 'Von hier aus nicht möglich',
  'title.tries': 'Zu oft begonnen',
  'title.declined': 'Abgelehnt',
  'title.checking_with': 'Rückfrage bei {partner}',
  'title.verification': 'Identitätsprüfung',
  'title.progress': 'Unterwegs',
  'title.checking': 'In Prüfung',
  'title.done': 'Bezahlt',
  'title.twice': 'Doppelt bezahlt',
  'title.expired': 'Abgelaufen',
  'title.canceled': 'Storniert',
  'title.failed': 'Nicht zustande gekommen',
  'title.refunded': 'Erstattet',
  'title.receipt': 'Zahlungsbeleg von {merchant}',
  'title.receipt_test': 'Test-Zahlungsbeleg von {merchant}',

  'sum.pay': 'Zu zahlen',
  'sum.paid': 'Bezahlt',
  'sum.price': 'Preis',
  'sum.not_charged': 'Nicht belastet',
  'sum.returned': 'Erstattet',

  'panel.details': 'Einzelheiten dieser Zahlung',
  'panel.order': 'Bestellung',
  'panel.open_until': 'Offen bis',
  'panel.from': 'Sie zahlen aus',
  'panel.question': 'Eine Frage zu Ihrer Bestellung?',

  'stop.past': 'erledigt',
  'stop.now': 'jetzt',
  'stop.since': 'seit {time}',
  'stop.until': 'bis {time}',
  'rail.where': 'Wo Ihre Zahlung gerade ist',
  'rail.how': 'So läuft es ab',

  'shop.back': 'Zurück zu {merchant}',
  'copy.button': 'Kopieren',
  'copy.done': 'Kopiert',

  'phone.title': 'Auf dem Telefon fortfahren',
  'phone.text': 'Scannen Sie diesen Code oder öffnen Sie dort den Link. Beide Geräte zeigen dieselbe Zahlung.',
  'phone.code': 'QR-Code mit dem Link zu dieser Zahlung von {amount} an {merchant}',
  'phone.link': 'Link zu dieser Seite',

  'offline.heading': 'Sie sind offline.',
  'offline.goes_on': 'Ihre Zahlung läuft weiter.',
  'offline.waits': 'Diese Seite ist vielleicht nicht mehr aktuell.',
  'offline.last': 'Letzter Stand: {time}',

  'about.seconds': 'etwa {count, plural, one {# Sekunde} other {# Sekunden}}',
  'about.minutes': 'etwa {count, plural, one {# Minute} other {# Minuten}}',

  ...deBefore,
  ...deAfter,
  ...deLink,

  'problem.back': 'Zurück zur Zahlung',
  'problem.retry': 'Erneut versuchen',
  'problem.not_found.heading': 'Diese Zahlung gibt es nicht',
  'problem.not_found.text': 'Prüfen Sie, ob Sie den vollständigen Link haben, oder bitten Sie den Shop um einen neuen.',
  'problem.bad_request.heading': 'Das hat nicht geklappt',
  'problem.bad_request.text':
    'Was Ihr Browser gesendet hat, war nicht lesbar. Gehen Sie zurück zur Zahlung und versuchen Sie es noch einmal.',
  'problem.forbidden.heading': 'Bitte beginnen Sie auf der Zahlungsseite',
  'problem.forbidden.text':
    'Dieser Schritt wurde von einer anderen Website angefordert. Öffnen Sie die Zahlungsseite und drücken Sie dort die Schaltfläche.',
  'problem.method_not_allowed.heading': 'Das hat nicht geklappt',
  'problem.method_not_allowed.text': 'Diese Adresse ist nur für die Schaltflächen der Zahlungsseite.',
  'problem.unavailable.heading': 'Die Zahlung lässt sich gerade nicht öffnen',
  'problem.unavailable.text':
    'Nichts ist verloren, und Ihnen wurde nichts belastet. Warten Sie einen Moment und versuchen Sie es noch einmal.',
  'problem.busy.heading': 'Einen Moment, bitte',
  'problem.busy.text':
    'Diese Seite kann gerade nicht angezeigt werden. Ihre Zahlung ist davon nicht betroffen. Versuchen Sie es gleich noch einmal.',
  'problem.internal.heading': 'Auf unserer Seite ist etwas schiefgegangen',
  'problem.internal.text': 'Ihre Zahlung ist davon nicht betroffen. Laden Sie diese Seite gleich noch einmal.',
})
