import type { Words } from '../words.ts'

export const HU: Words = {
  happened: {
    'payment.succeeded': 'Sikeres fizetés',
    'payment.failed': 'Sikertelen fizetés',
    'payment.expired': 'A fizetés lejárt',
    'payment.canceled': 'A fizetés visszavonva',
    'payment.under_review': 'Egy fizetést meg kell nézni',
    'payment.chargeback': 'A bank visszavette a pénzt',
    'payment.refunded': 'A fizetés visszatérítve',
    'payment_link.completed': 'A fizetési link betelt',
    'payment_link.stopped': 'Leállítottunk egy fizetési linket',
    'payment_link.resumed': 'A fizetési link újra működik',
    'payment_link.claimed': 'Egy fizetési link átkerült a fiókba',
    'webhook_endpoint.changed': 'Webhook-végpont módosítva',
    'webhook_endpoint.disabled': 'Webhook-végpont kikapcsolva',
    'wallet.changed': 'A tárca beállítva',
    'wallet.planned': 'A tárca hamarosan megváltozik',
    'wallet.kept': 'A tárca módosítása leállítva',
    'channel.added': 'Értesítési csatorna hozzáadva',
    'channel.removed': 'Értesítési csatorna eltávolítva',
    'channel.broken': 'Egy értesítési csatorna semmit sem fogad',
    'api_key.created': 'API-kulcs létrehozva',
    'api_key.revoked': 'API-kulcs visszavonva',
    'sign_in.new': 'Bejelentkezés új eszközről',
    'payout.held': 'Egy kifizetés visszatartva',
  },
  other: 'Történt valami',
  arrives: 'érkezik',
  reference: 'Hivatkozás',
  newWallet: 'Új tárca',
  takesEffect: 'Érvényes ettől',
  stop: 'Nem számított rá? Egy kattintással leállítható',
  says: 'Indok',
  repeated: 'Újraküldve, mert az első próbálkozásra nem jött válasz. Lehet, hogy már megkapta.',
  test: 'Ez a csatorna működik. Csak próba volt.',
  many: '{count, plural, one {# értesítés} other {# értesítés}}',
  more: '{count, plural, one {és még #} other {és még #}}',
  mail: {
    walletSet:
      'A(z) „{account}” fiók tárcája mostantól {address}. Az új fizetések oda mennek. A meglévő fizetések megtartják a tárcájukat.',
    walletAsked:
      'Valaki a(z) „{account}” fiók tárcájának módosítását kérte. Amíg a módosítás nem érvényes, a fizetések a mai tárcára mennek. A meglévő fizetések megtartják.',
    walletAnybody: 'A csapat minden tagja értesült róla, és bármelyikük leállíthatja.',
    walletKept:
      'A(z) „{account}” fiók tárcájának tervezett módosítása leállítva. A fizetések a korábbi tárcára mennek.',
    linkClaimed:
      'A(z) „{title}” fizetési link átkerült a(z) „{account}” fiókba. A pénze erre a tárcára megy, és ez így is marad: {wallet}.',
    linkNotYours: 'Ez nem az Ön tárcája? Akkor szüneteltesse a linket: a vevők az Ön nevét olvassák az oldalán.',
    channelAdded: 'Mostantól „{name}” ({kind}) értesítést kap a(z) „{account}” fiók fizetéseiről.',
    channelRemoved: 'Mostantól „{name}” ({kind}) nem kap értesítést a(z) „{account}” fiókról.',
    channelBroken: '„{name}” ({kind}) semmit sem fogad a(z) „{account}” fióktól. Ami vár, azt 30 napig megőrizzük.',
    keyCreated: 'A(z) „{account}” fiók új API-kulcsa: „{name}” ({key}). Akinél megvan, mostantól használhatja.',
    keyRevoked:
      'A(z) „{account}” fiók visszavont API-kulcsa: „{name}” ({key}). A programokat, amelyek használják, mostantól elutasítjuk.',
    unexpected: 'Nem számított rá? Nézze meg, ki tette:',
    signIn:
      'Valaki bejelentkezett ezzel a címmel: {email}, olyan böngészővel, amelyet még nem láttunk. A bejelentkezés innen jött: {ip}.',
    signInNot: 'Nem Ön volt? Zárjon le minden más munkamenetet, és nézze át a jelkulcsait:',
    payoutHeld:
      'A(z) „{account}” fiók egyik fizetésének kifizetése visszatartva. A pénz biztonságban van. Akkor érkezik meg, ha ez rendeződött.',
    heldBlacklisted: 'Az USDC kibocsátója elutasítja az Ön tárcáját. Állítson be másik tárcát, és írjon nekünk.',
    heldRefused: 'Az átutalást elutasították. Utánanézünk.',
    heldPolicy: 'Egyik szabályunk szerint csapatunknak kell megnéznie.',
    heldOperator: 'Csapatunk megnézi.',
    endpointChanged:
      'A(z) „{account}” fiók webhook-végpontját ({url}) hozzáadták, módosították, törölték, vagy új titkot kapott.',
    endpointGone: 'Kikapcsoltuk ezt a webhook-végpontot: {url}. 410-es választ adott: már nem létezik.',
    endpointFailing: 'Kikapcsoltuk ezt a webhook-végpontot: {url}. Öt napig egyetlen eseményt sem fogadott.',
    endpointThen:
      'A fizetések folytatódnak. A kihagyott eseményeket megőrizzük, és elküldhetők, ha újra be van kapcsolva.',
  },
}
