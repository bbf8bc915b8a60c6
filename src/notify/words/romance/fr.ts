import type { Words } from '../words.ts'

export const FR: Words = {
  happened: {
    'payment.succeeded': 'Paiement réussi',
    'payment.failed': 'Paiement échoué',
    'payment.expired': 'Paiement expiré',
    'payment.canceled': 'Paiement annulé',
    'payment.under_review': 'Un paiement est à examiner',
    'payment.chargeback': 'La banque a repris l’argent',
    'payment.refunded': 'Paiement remboursé',
    'payment_link.completed': 'Lien de paiement épuisé',
    'payment_link.stopped': 'Nous avons arrêté un lien de paiement',
    'payment_link.resumed': 'Le lien de paiement fonctionne à nouveau',
    'payment_link.claimed': 'Un lien de paiement a été ajouté au compte',
    'webhook_endpoint.changed': 'Endpoint de webhook modifié',
    'webhook_endpoint.disabled': 'Endpoint de webhook désactivé',
    'wallet.changed': 'Le portefeuille a été défini',
    'wallet.planned': 'Le portefeuille va changer',
    'wallet.kept': 'Le changement de portefeuille a été arrêté',
    'channel.added': 'Un canal de notification a été ajouté',
    'channel.removed': 'Un canal de notification a été retiré',
    'channel.broken': 'Un canal de notification n’accepte rien',
    'api_key.created': 'Une clé API a été créée',
    'api_key.revoked': 'Une clé API a été révoquée',
    'sign_in.new': 'Connexion depuis un nouvel appareil',
    'payout.held': 'Un versement est retenu',
  },
  other: 'Il s’est passé quelque chose',
  arrives: 'arrivent',
  reference: 'Référence',
  newWallet: 'Nouveau portefeuille',
  takesEffect: 'Prend effet le',
  stop: 'Inattendu\u202f? Arrêtez-le en un clic',
  says: 'Raison',
  repeated: 'Envoyé une deuxième fois, car le premier essai est resté sans réponse. Vous l’avez peut-être déjà.',
  test: 'Ce canal fonctionne. Ce n’était qu’un essai.',
  many: '{count, plural, one {# notification} many {# de notifications} other {# notifications}}',
  more: '{count, plural, one {et # de plus} many {et # de plus} other {et # de plus}}',
  mail: {
    walletSet:
      'Le portefeuille de «\u00a0{account}\u00a0» est maintenant {address}. Les nouveaux paiements y vont. Les paiements existants gardent leur portefeuille.',
    walletAsked:
      'Quelqu’un a demandé à changer le portefeuille de «\u00a0{account}\u00a0». Jusqu’à ce que le changement prenne effet, les paiements vont au portefeuille d’aujourd’hui. Les paiements existants le gardent.',
    walletAnybody: 'Toute l’équipe a été prévenue, et chacun peut arrêter le changement.',
    walletKept:
      'Le changement prévu du portefeuille de «\u00a0{account}\u00a0» a été arrêté. Les paiements vont au portefeuille d’avant.',
    linkClaimed:
      'Le lien de paiement «\u00a0{title}\u00a0» a été ajouté à «\u00a0{account}\u00a0». Son argent va au portefeuille {wallet}, et il en restera ainsi.',
    linkNotYours:
      'Ce portefeuille n’est pas à vous\u202f? Alors mettez le lien en pause\u202f: les acheteurs lisent votre nom sur sa page.',
    channelAdded: 'Désormais, «\u00a0{name}\u00a0» ({kind}) est informé des paiements de «\u00a0{account}\u00a0».',
    channelRemoved: 'Désormais, «\u00a0{name}\u00a0» ({kind}) n’est plus informé de rien pour «\u00a0{account}\u00a0».',
    channelBroken:
      '«\u00a0{name}\u00a0» ({kind}) n’accepte rien de «\u00a0{account}\u00a0». Ce qui attend est gardé 30 jours.',
    keyCreated:
      'La clé API «\u00a0{name}\u00a0» ({key}) de «\u00a0{account}\u00a0» a été créée. Quiconque la possède peut s’en servir dès maintenant.',
    keyRevoked:
      'La clé API «\u00a0{name}\u00a0» ({key}) de «\u00a0{account}\u00a0» a été révoquée. Les programmes qui s’en servent sont refusés dès maintenant.',
    unexpected: 'Inattendu\u202f? Voyez qui l’a fait\u202f:',
    signIn:
      'Quelqu’un s’est connecté comme {email} avec un navigateur que nous n’avions jamais vu. La connexion venait de l’adresse {ip}.',
    signInNot: 'Ce n’était pas vous\u202f? Mettez fin à toutes les autres sessions et vérifiez vos clés d’accès\u202f:',
    payoutHeld:
      'Le versement d’un paiement de «\u00a0{account}\u00a0» est retenu. L’argent est en sécurité. Il n’arrive qu’une fois la question réglée.',
    heldBlacklisted: 'L’émetteur d’USDC refuse votre portefeuille. Indiquez-en un autre et écrivez-nous.',
    heldRefused: 'Le transfert a été refusé. Nous l’examinons.',
    heldPolicy: 'Une de nos règles demande que notre équipe l’examine.',
    heldOperator: 'Notre équipe l’examine.',
    endpointChanged:
      'L’endpoint de webhook {url} de « {account} » a été ajouté, modifié, supprimé ou doté d’un nouveau secret.',
    endpointGone: 'Nous avons désactivé l’endpoint de webhook {url}. Il a répondu 410\u202f: il n’existe plus.',
    endpointFailing:
      'Nous avons désactivé l’endpoint de webhook {url}. Pendant cinq jours, il n’a accepté aucun événement.',
    endpointThen:
      'Les paiements continuent. Les événements qu’il manque sont gardés et peuvent être envoyés quand il est réactivé.',
  },
}
