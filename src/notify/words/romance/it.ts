import type { Words } from '../words.ts'

export const IT: Words = {
  happened: {
    'payment.succeeded': 'Pagamento riuscito',
    'payment.failed': 'Pagamento fallito',
    'payment.expired': 'Pagamento scaduto',
    'payment.canceled': 'Pagamento annullato',
    'payment.under_review': 'Un pagamento va controllato',
    'payment.chargeback': 'La banca ha ripreso il denaro',
    'payment.refunded': 'Pagamento rimborsato',
    'payment_link.completed': 'Link di pagamento esaurito',
    'payment_link.stopped': 'Abbiamo fermato un link di pagamento',
    'payment_link.resumed': 'Il link di pagamento funziona di nuovo',
    'payment_link.claimed': 'Un link di pagamento è stato aggiunto all’account',
    'webhook_endpoint.changed': 'Endpoint webhook modificato',
    'webhook_endpoint.disabled': 'Endpoint webhook disattivato',
    'wallet.changed': 'Il portafoglio è stato impostato',
    'wallet.planned': 'Il portafoglio sta per cambiare',
    'wallet.kept': 'Il cambio del portafoglio è stato fermato',
    'channel.added': 'È stato aggiunto un canale di notifica',
    'channel.removed': 'È stato rimosso un canale di notifica',
    'channel.broken': 'Un canale di notifica non accetta nulla',
    'api_key.created': 'È stata creata una chiave API',
    'api_key.revoked': 'È stata revocata una chiave API',
    'sign_in.new': 'Accesso da un nuovo dispositivo',
    'payout.held': 'Un versamento è trattenuto',
  },
  other: 'È successo qualcosa',
  arrives: 'arrivano',
  reference: 'Riferimento',
  newWallet: 'Nuovo portafoglio',
  takesEffect: 'In vigore dal',
  stop: 'Non era previsto? Si può fermare con un clic',
  says: 'Motivo',
  repeated: 'Inviato di nuovo, perché il primo tentativo è rimasto senza risposta. Forse è già arrivato.',
  test: 'Questo canale funziona. Era solo una prova.',
  many: '{count, plural, one {# notifica} many {# di notifiche} other {# notifiche}}',
  more: '{count, plural, one {e un’altra} many {e altre #} other {e altre #}}',
  mail: {
    walletSet:
      'Il portafoglio di «{account}» ora è {address}. I nuovi pagamenti vanno lì. I pagamenti esistenti mantengono il loro portafoglio.',
    walletAsked:
      'Qualcuno ha chiesto di cambiare il portafoglio di «{account}». Finché il cambio non è in vigore, i pagamenti vanno al portafoglio di oggi. I pagamenti esistenti lo mantengono.',
    walletAnybody: 'Tutto il team è stato avvisato, e chiunque può fermare il cambio.',
    walletKept:
      'Il cambio previsto del portafoglio di «{account}» è stato fermato. I pagamenti vanno al portafoglio di prima.',
    linkClaimed:
      'Il link di pagamento «{title}» è stato aggiunto a «{account}». Il suo denaro va al portafoglio {wallet}, e così resterà.',
    linkNotYours:
      'Non è un Suo portafoglio? Allora metta in pausa il link: gli acquirenti leggono il Suo nome sulla pagina.',
    channelAdded: 'Da ora «{name}» ({kind}) riceve notizie dei pagamenti di «{account}».',
    channelRemoved: 'Da ora «{name}» ({kind}) non riceve più notizie di «{account}».',
    channelBroken:
      '«{name}» ({kind}) non accetta nulla da «{account}». Ciò che attende resta conservato per 30 giorni.',
    keyCreated: 'La chiave API «{name}» ({key}) di «{account}» è stata creata. Chi la possiede può usarla da ora.',
    keyRevoked:
      'La chiave API «{name}» ({key}) di «{account}» è stata revocata. I programmi che la usano vengono rifiutati da ora.',
    unexpected: 'Non era previsto? Ecco dove si vede chi è stato:',
    signIn:
      'Qualcuno ha effettuato l’accesso come {email} con un browser mai visto prima. L’accesso proveniva dall’indirizzo {ip}.',
    signInNot: 'Non è stato Lei? Chiuda tutte le altre sessioni e controlli le Sue passkey:',
    payoutHeld:
      'Il versamento di un pagamento di «{account}» è trattenuto. Il denaro è al sicuro. Non arriva finché la questione non è risolta.',
    heldBlacklisted: 'L’emittente di USDC rifiuta il Suo portafoglio. Indichi un altro portafoglio e ci scriva.',
    heldRefused: 'Il trasferimento è stato rifiutato. Lo stiamo esaminando.',
    heldPolicy: 'Una nostra regola richiede che lo esamini il nostro team.',
    heldOperator: 'Il nostro team lo sta esaminando.',
    endpointChanged:
      'L’endpoint webhook {url} di «{account}» è stato aggiunto, modificato, eliminato o dotato di un nuovo segreto.',
    endpointGone: 'Abbiamo disattivato l’endpoint webhook {url}. Ha risposto 410: non esiste più.',
    endpointFailing: 'Abbiamo disattivato l’endpoint webhook {url}. Per cinque giorni non ha accettato alcun evento.',
    endpointThen:
      'I pagamenti continuano. Gli eventi persi restano conservati e si possono inviare quando è di nuovo attivo.',
  },
}
