import type { Words } from '../words.ts'

export const RO: Words = {
  happened: {
    'payment.succeeded': 'Plată reușită',
    'payment.failed': 'Plată eșuată',
    'payment.expired': 'Plată expirată',
    'payment.canceled': 'Plată anulată',
    'payment.under_review': 'O plată trebuie verificată',
    'payment.chargeback': 'Banca a recuperat banii',
    'payment.refunded': 'Plată rambursată',
    'payment_link.completed': 'Link de plată epuizat',
    'payment_link.stopped': 'Am oprit un link de plată',
    'payment_link.resumed': 'Linkul de plată funcționează din nou',
    'payment_link.claimed': 'Un link de plată a fost adus în cont',
    'webhook_endpoint.changed': 'Endpoint de webhook modificat',
    'webhook_endpoint.disabled': 'Endpoint de webhook dezactivat',
    'wallet.changed': 'Portofelul a fost setat',
    'wallet.planned': 'Portofelul urmează să se schimbe',
    'wallet.kept': 'Schimbarea portofelului a fost oprită',
    'channel.added': 'A fost adăugat un canal de notificare',
    'channel.removed': 'A fost eliminat un canal de notificare',
    'channel.broken': 'Un canal de notificare nu acceptă nimic',
    'api_key.created': 'A fost creată o cheie API',
    'api_key.revoked': 'A fost revocată o cheie API',
    'sign_in.new': 'Autentificare de pe un dispozitiv nou',
    'payout.held': 'Un transfer către portofelul dumneavoastră este reținut',
  },
  other: 'S-a întâmplat ceva',
  arrives: 'ajung',
  reference: 'Referință',
  newWallet: 'Portofel nou',
  takesEffect: 'Se aplică din',
  stop: 'Nu vă așteptați la asta? Opriți schimbarea cu un clic',
  says: 'Motiv',
  repeated: 'Trimis din nou, pentru că prima încercare nu a primit răspuns. Poate îl aveți deja.',
  test: 'Acest canal funcționează. A fost doar un test.',
  many: '{count, plural, one {# notificare} few {# notificări} other {# de notificări}}',
  more: '{count, plural, one {și încă #} few {și încă #} other {și încă #}}',
  mail: {
    walletSet:
      'Portofelul contului „{account}” este acum {address}. Plățile noi merg acolo. Plățile existente își păstrează portofelul.',
    walletAsked:
      'Cineva a cerut schimbarea portofelului contului „{account}”. Până când schimbarea se aplică, plățile merg la portofelul de azi. Plățile existente îl păstrează.',
    walletAnybody: 'Toată echipa a fost anunțată și oricine din ea poate opri schimbarea.',
    walletKept:
      'Schimbarea planificată a portofelului contului „{account}” a fost oprită. Plățile merg la portofelul dinainte.',
    linkClaimed:
      'Linkul de plată „{title}” a fost adus în contul „{account}”. Banii lui merg la portofelul {wallet} și așa va rămâne.',
    linkNotYours:
      'Nu este un portofel al dumneavoastră? Atunci puneți linkul în pauză: cumpărătorii vă citesc numele pe pagina lui.',
    channelAdded: 'De acum, „{name}” ({kind}) află despre plățile contului „{account}”.',
    channelRemoved: 'De acum, „{name}” ({kind}) nu mai află nimic despre contul „{account}”.',
    channelBroken: '„{name}” ({kind}) nu acceptă nimic de la contul „{account}”. Ce așteaptă se păstrează 30 de zile.',
    keyCreated: 'A fost creată cheia API „{name}” ({key}) a contului „{account}”. Cine o are o poate folosi de acum.',
    keyRevoked:
      'A fost revocată cheia API „{name}” ({key}) a contului „{account}”. Programele care o folosesc sunt refuzate de acum.',
    unexpected: 'Nu vă așteptați la asta? Vedeți cine a făcut-o:',
    signIn:
      'Cineva s-a autentificat ca {email} cu un browser pe care nu l-am mai văzut. Autentificarea a venit de la adresa {ip}.',
    signInNot: 'Nu ați fost dumneavoastră? Închideți toate celelalte sesiuni și verificați cheile de acces:',
    payoutHeld:
      'Transferul unei plăți a contului „{account}” este reținut. Banii sunt în siguranță. Ajung abia după ce se rezolvă.',
    heldBlacklisted: 'Emitentul USDC refuză portofelul dumneavoastră. Setați alt portofel și scrieți-ne.',
    heldRefused: 'Transferul a fost refuzat. Îl verificăm.',
    heldPolicy: 'O regulă internă cere ca echipa noastră să îl verifice.',
    heldOperator: 'Echipa noastră îl verifică.',
    endpointChanged:
      'Endpointul de webhook {url} al contului „{account}” a fost adăugat, modificat, șters sau a primit un secret nou.',
    endpointGone: 'Am dezactivat endpointul de webhook {url}. A răspuns 410: nu mai există.',
    endpointFailing: 'Am dezactivat endpointul de webhook {url}. Timp de cinci zile nu a acceptat niciun eveniment.',
    endpointThen:
      'Plățile continuă. Evenimentele pe care le pierde se păstrează și pot fi trimise când este din nou activ.',
  },
}
