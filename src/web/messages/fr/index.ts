import { translation } from '../translation.ts'
import { frAfter } from './after.ts'
import { frBefore } from './before.ts'
import { frLink } from './link.ts'

/** The texts of the checkout in French. How they came about: docs/translations.md. */
export const fr = translation({
  'page.skip': 'Aller au paiement',
  'page.test_mode': 'Mode test',
  'page.test': 'Test',
  'page.test.text': 'Aucun argent réel ne circule.',
  'page.footer': 'Page de paiement par Pinrail',
  'page.whole': 'Ouvrir en pleine page',
  'page.language': 'Langue',

  'title.pay': 'Payer {amount} à {merchant}',
  'title.state': '{state} : {amount} à {merchant}',
  'title.unpaid': 'Pas encore payé',
  'title.not_offered': 'Impossible depuis ici',
  'title.tries': 'Commencé trop de fois',
  'title.declined': 'Refusé',
  'title.checking_with': 'Vérification auprès de {partner}',
  'title.verification': 'Contrôle d’identité',
  'title.progress': 'En cours d’acheminement',
  'title.checking': 'En cours d’examen',
  'title.done': 'Payé',
  'title.twice': 'Payé deux fois',
  'title.expired': 'Expiré',
  'title.canceled': 'Annulé',
  'title.failed': 'Non abouti',
  'title.refunded': 'Remboursé',
  'title.receipt': 'Reçu de {merchant}',
  'title.receipt_test': 'Reçu de test de {merchant}',

  'sum.pay': 'À payer',
  'sum.paid': 'Payé',
  'sum.price': 'Prix',
  'sum.not_charged': 'Non débité',
  'sum.returned': 'Remboursé',

  'panel.details': 'Détails de ce paiement',
  'panel.order': 'Commande',
  'panel.open_until': 'Ouvert jusqu’au',
  'panel.from': 'Pays de paiement',
  'panel.question': 'Une question sur votre commande ?',

  'stop.past': 'terminé',
  'stop.now': 'maintenant',
  'stop.since': 'depuis {time}',
  'stop.until': 'échéance : {time}',
  'rail.where': 'Où en est votre paiement',
  'rail.how': 'Comment cela se passe',

  'shop.back': 'Retour chez {merchant}',
  'copy.button': 'Copier',
  'copy.done': 'Copié',

  'phone.title': 'Continuer sur votre téléphone',
  'phone.text': 'Scannez ce code ou ouvrez-y le lien. Les deux appareils affichent le même paiement.',
  'phone.code': 'Code QR avec le lien vers ce paiement de {amount} à {merchant}',
  'phone.link': 'Lien vers cette page',

  'offline.heading': 'Vous êtes hors ligne.',
  'offline.goes_on': 'Votre paiement suit son cours.',
  'offline.waits': 'Cette page n’est peut-être plus à jour.',
  'offline.last': 'Dernière mise à jour : {time}',

  'about.seconds': 'environ {count, plural, one {# seconde} many {# secondes} other {# secondes}}',
  'about.minutes': 'environ {count, plural, one {# minute} many {# minutes} other {# minutes}}',

  ...frBefore,
  ...frAfter,
  ...frLink,

  'problem.back': 'Retour au paiement',
  'problem.retry': 'Réessayer',
  'problem.not_found.heading': 'Ce paiement n’existe pas',
  'problem.not_found.text': 'Vérifiez que vous avez le lien complet, ou demandez-en un nouveau à la boutique.',
  'problem.bad_request.heading': 'Cela n’a pas fonctionné',
  'problem.bad_request.text': 'Ce que votre navigateur a envoyé est illisible. Revenez au paiement et réessayez.',
  'problem.forbidden.heading': 'Veuillez partir de la page de paiement',
  'problem.forbidden.text':
    'Cette étape a été demandée par un autre site. Ouvrez la page de paiement et appuyez-y sur le bouton.',
  'problem.method_not_allowed.heading': 'Cela n’a pas fonctionné',
  'problem.method_not_allowed.text': 'Cette adresse ne sert qu’aux boutons de la page de paiement.',
  'problem.unavailable.heading': 'Le paiement ne peut pas être ouvert pour le moment',
  'problem.unavailable.text': 'Rien n’est perdu et vous n’avez pas été débité. Attendez un instant et réessayez.',
  'problem.busy.heading': 'Un instant, s’il vous plaît',
  'problem.busy.text':
    'Cette page ne peut pas être affichée pour le moment. Votre paiement n’est pas concerné. Réessayez dans un instant.',
  'problem.internal.heading': 'Un problème est survenu de notre côté',
  'problem.internal.text': 'Votre paiement n’est pas concerné. Rechargez cette page dans un instant.',
})
