import type { Words } from '../words.ts'

export const SV: Words = {
  happened: {
    'payment.succeeded': 'Betalning lyckades',
    'payment.failed': 'Betalning misslyckades',
    'payment.expired': 'Betalningen gick ut',
    'payment.canceled': 'Betalning avbruten',
    'payment.under_review': 'En betalning behöver ses över',
    'payment.chargeback': 'Banken tog tillbaka pengar',
    'payment.refunded': 'Betalning återbetald',
    'payment_link.completed': 'Betallänken är slut',
    'payment_link.stopped': 'Vi stoppade en betallänk',
    'payment_link.resumed': 'Betallänken fungerar igen',
    'payment_link.claimed': 'En betallänk togs in i kontot',
    'webhook_endpoint.changed': 'Webhook-adress ändrad',
    'webhook_endpoint.disabled': 'Webhook-adress avstängd',
    'wallet.changed': 'Plånboken har angetts',
    'wallet.planned': 'Plånboken ska ändras',
    'wallet.kept': 'Ändringen av plånboken stoppades',
    'channel.added': 'En aviseringskanal lades till',
    'channel.removed': 'En aviseringskanal togs bort',
    'channel.broken': 'En aviseringskanal tar inte emot något',
    'api_key.created': 'En API-nyckel skapades',
    'api_key.revoked': 'En API-nyckel återkallades',
    'sign_in.new': 'Inloggning från en ny enhet',
    'payout.held': 'En utbetalning hålls inne',
  },
  other: 'Något har hänt',
  arrives: 'kommer fram',
  reference: 'Referens',
  newWallet: 'Ny plånbok',
  takesEffect: 'Gäller från',
  stop: 'Oväntat? Stoppa det med ett klick',
  says: 'Orsak',
  repeated: 'Skickat igen, eftersom det första försöket inte fick svar. Du kanske redan har det.',
  test: 'Den här kanalen fungerar. Det var bara ett test.',
  many: '{count, plural, one {# avisering} other {# aviseringar}}',
  more: '{count, plural, one {och # till} other {och # till}}',
  mail: {
    walletSet:
      'Plånboken för ”{account}” är nu {address}. Nya betalningar går dit. Befintliga betalningar behåller sin plånbok.',
    walletAsked:
      'Någon vill ändra plånboken för ”{account}”. Tills ändringen gäller går betalningar till dagens plånbok. Befintliga betalningar behåller den.',
    walletAnybody: 'Alla i teamet har fått veta det, och vem som helst av dem kan stoppa ändringen.',
    walletKept:
      'Den planerade ändringen av plånboken för ”{account}” stoppades. Betalningar går till den tidigare plånboken.',
    linkClaimed:
      'Betallänken ”{title}” togs in i ”{account}”. Dess pengar går till plånboken {wallet} och fortsätter att göra det.',
    linkNotYours: 'Är det inte en plånbok som är din? Pausa då länken: köpare läser ditt namn på dess sida.',
    channelAdded: 'Från och med nu får ”{name}” ({kind}) veta om betalningar till ”{account}”.',
    channelRemoved: 'Från och med nu får ”{name}” ({kind}) inte veta något om ”{account}”.',
    channelBroken: '”{name}” ({kind}) tar inte emot något från ”{account}”. Det som väntar sparas i 30 dagar.',
    keyCreated:
      'API-nyckeln ”{name}” ({key}) för ”{account}” skapades. Den som har den kan använda den från och med nu.',
    keyRevoked:
      'API-nyckeln ”{name}” ({key}) för ”{account}” återkallades. Program som använder den nekas från och med nu.',
    unexpected: 'Oväntat? Se efter vem det var:',
    signIn:
      'Någon loggade in som {email} med en webbläsare som vi inte har sett förut. Inloggningen kom från adressen {ip}.',
    signInNot: 'Var det inte du? Avsluta alla andra sessioner och se över dina passnycklar:',
    payoutHeld:
      'Utbetalningen av en betalning till ”{account}” hålls inne. Pengarna är säkra. De kommer fram när detta är löst.',
    heldBlacklisted: 'Utgivaren av USDC nekar din plånbok. Ange en annan plånbok och skriv till oss.',
    heldRefused: 'Överföringen nekades. Vi tittar på den.',
    heldPolicy: 'En av våra regler kräver att vårt team tittar på den.',
    heldOperator: 'Vårt team tittar på den.',
    endpointChanged:
      'Webhook-adressen {url} för ”{account}” lades till, ändrades, togs bort eller fick en ny hemlighet.',
    endpointGone: 'Vi stängde av webhook-adressen {url}. Den svarade 410: den finns inte längre.',
    endpointFailing: 'Vi stängde av webhook-adressen {url}. I fem dagar tog den inte emot någon händelse.',
    endpointThen: 'Betalningarna fortsätter. Händelser som den missar sparas och kan skickas när den är på igen.',
  },
}
