import { translation } from '../translation.ts'
import { elAfter } from './after.ts'
import { elBefore } from './before.ts'
import { elLink } from './link.ts'

/** The texts of the checkout in Greek. How they came about: docs/translations.md. */
export const el = translation({
  'page.skip': 'Μετάβαση στην πληρωμή',
  'page.test_mode': 'Δοκιμαστική λειτουργία',
  'page.test': 'Δοκιμή',
  'page.test.text': 'Δεν μετακινούνται πραγματικά χρήματα.',
  'page.footer': 'Σελίδα πληρωμής από την Pinrail',
  'page.whole': 'Άνοιγμα σε πλήρη σελίδα',
  'page.language': 'Γλώσσα',

  'title.pay': 'Πληρωμή {amount} προς {merchant}',
  'title.state': '{state}: {amount} προς {merchant}',
  'title.unpaid': 'Δεν έχει πληρωθεί ακόμη',
  'title.not_offered': 'Δεν είναι δυνατή από εδώ',
  'title.tries': 'Ξεκίνησε πάρα πολλές φορές',
  'title.declined': 'Απορρίφθηκε',
  'title.checking_with': 'Έλεγχος με {partner}',
  'title.verification': 'Έλεγχος ταυτότητας',
  'title.progress': 'Καθ’ οδόν',
  'title.checking': 'Υπό έλεγχο',
  'title.done': 'Πληρώθηκε',
  'title.twice': 'Πληρώθηκε δύο φορές',
  'title.expired': 'Έληξε',
  'title.canceled': 'Ακυρώθηκε',
  'title.failed': 'Δεν ολοκληρώθηκε',
  'title.refunded': 'Επιστράφηκε',
  'title.receipt': 'Απόδειξη από {merchant}',
  'title.receipt_test': 'Δοκιμαστική απόδειξη από {merchant}',

  'sum.pay': 'Πληρωτέο',
  'sum.paid': 'Πληρώθηκε',
  'sum.price': 'Τιμή',
  'sum.not_charged': 'Χωρίς χρέωση',
  'sum.returned': 'Επιστράφηκε',

  'panel.details': 'Λεπτομέρειες πληρωμής',
  'panel.order': 'Παραγγελία',
  'panel.open_until': 'Ανοιχτή έως',
  'panel.from': 'Πληρώνετε από',
  'panel.question': 'Ερώτηση για την παραγγελία σας;',

  'stop.past': 'έγινε',
  'stop.now': 'τώρα',
  'stop.since': 'από τις {time}',
  'stop.until': 'έως {time}',
  'rail.where': 'Πού βρίσκεται η πληρωμή σας',
  'rail.how': 'Πώς γίνεται',

  'shop.back': 'Επιστροφή: {merchant}',
  'copy.button': 'Αντιγραφή',
  'copy.done': 'Αντιγράφηκε',

  'phone.title': 'Συνέχεια στο τηλέφωνό σας',
  'phone.text': 'Σαρώστε αυτόν τον κωδικό ή ανοίξτε εκεί τον σύνδεσμο. Και οι δύο συσκευές δείχνουν την ίδια πληρωμή.',
  'phone.code': 'Κωδικός QR με τον σύνδεσμο αυτής της πληρωμής {amount} προς {merchant}',
  'phone.link': 'Σύνδεσμος αυτής της σελίδας',

  'offline.heading': 'Είστε εκτός σύνδεσης.',
  'offline.goes_on': 'Η πληρωμή σας συνεχίζεται.',
  'offline.waits': 'Αυτή η σελίδα μπορεί να μην είναι ενημερωμένη.',
  'offline.last': 'Τελευταία ενημέρωση: {time}',

  'about.seconds': 'περίπου {count, plural, one {# δευτερόλεπτο} other {# δευτερόλεπτα}}',
  'about.minutes': 'περίπου {count, plural, one {# λεπτό} other {# λεπτά}}',

  ...elBefore,
  ...elAfter,
  ...elLink,

  'problem.back': 'Επιστροφή στην πληρωμή',
  'problem.retry': 'Δοκιμάστε ξανά',
  'problem.not_found.heading': 'Δεν υπάρχει τέτοια πληρωμή',
  'problem.not_found.text': 'Ελέγξτε ότι έχετε ολόκληρο τον σύνδεσμο ή ζητήστε νέο από το κατάστημα.',
  'problem.bad_request.heading': 'Αυτό δεν λειτούργησε',
  'problem.bad_request.text':
    'Δεν ήταν δυνατή η ανάγνωση όσων έστειλε το πρόγραμμα περιήγησής σας. Επιστρέψτε στην πληρωμή και δοκιμάστε ξανά.',
  'problem.forbidden.heading': 'Ξεκινήστε από τη σελίδα πληρωμής',
  'problem.forbidden.text':
    'Αυτό το βήμα ζητήθηκε από άλλον ιστότοπο. Ανοίξτε τη σελίδα πληρωμής και πατήστε εκεί το κουμπί.',
  'problem.method_not_allowed.heading': 'Αυτό δεν λειτούργησε',
  'problem.method_not_allowed.text': 'Αυτή η διεύθυνση είναι μόνο για τα κουμπιά της σελίδας πληρωμής.',
  'problem.unavailable.heading': 'Η πληρωμή δεν μπορεί να ανοίξει αυτή τη στιγμή',
  'problem.unavailable.text': 'Τίποτα δεν χάθηκε και δεν χρεωθήκατε. Περιμένετε λίγο και δοκιμάστε ξανά.',
  'problem.busy.heading': 'Μια στιγμή, παρακαλούμε',
  'problem.busy.text':
    'Αυτή η σελίδα δεν μπορεί να εμφανιστεί τώρα. Η πληρωμή σας δεν επηρεάζεται. Δοκιμάστε ξανά σε λίγο.',
  'problem.internal.heading': 'Κάτι πήγε στραβά από τη μεριά μας',
  'problem.internal.text': 'Η πληρωμή σας δεν επηρεάζεται. Φορτώστε ξανά αυτή τη σελίδα σε λίγο.',
})
