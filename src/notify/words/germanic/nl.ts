import type { Words } from '../words.ts'

export const NL: Words = {
  happened: {
    'payment.succeeded': 'Betaling geslaagd',
    'payment.failed': 'Betaling mislukt',
    'payment.expired': 'Betaling verlopen',
    'payment.canceled': 'Betaling geannuleerd',
    'payment.under_review': 'Een betaling moet worden bekeken',
    'payment.chargeback': 'De bank heeft geld teruggehaald',
    'payment.refunded': 'Betaling terugbetaald',
    'payment_link.completed': 'Betaallink volledig gebruikt',
    'payment_link.stopped': 'Wij hebben een betaallink stopgezet',
    'payment_link.resumed': 'De betaallink werkt weer',
    'payment_link.claimed': 'Een betaallink is in het account gezet',
    'webhook_endpoint.changed': 'Webhook-endpoint gewijzigd',
    'webhook_endpoint.disabled': 'Webhook-endpoint uitgeschakeld',
    'wallet.changed': 'De wallet is ingesteld',
    'wallet.planned': 'De wallet gaat veranderen',
    'wallet.kept': 'De wijziging van de wallet is gestopt',
    'channel.added': 'Er is een meldingskanaal toegevoegd',
    'channel.removed': 'Er is een meldingskanaal verwijderd',
    'channel.broken': 'Een meldingskanaal neemt niets aan',
    'api_key.created': 'Er is een API-sleutel gemaakt',
    'api_key.revoked': 'Er is een API-sleutel ingetrokken',
    'sign_in.new': 'Aanmelding vanaf een nieuw apparaat',
    'payout.held': 'Een uitbetaling wordt vastgehouden',
  },
  other: 'Er is iets gebeurd',
  arrives: 'komt aan',
  reference: 'Referentie',
  newWallet: 'Nieuwe wallet',
  takesEffect: 'Gaat in',
  stop: 'Niet verwacht? Stop het met één klik',
  says: 'Reden',
  repeated: 'Opnieuw verzonden, omdat de eerste poging geen antwoord kreeg. Misschien hebt u dit bericht al.',
  test: 'Dit kanaal werkt. Het was alleen een test.',
  many: '{count, plural, one {# melding} other {# meldingen}}',
  more: '{count, plural, one {en nog #} other {en nog #}}',
  mail: {
    walletSet:
      'De wallet van “{account}” is nu {address}. Nieuwe betalingen gaan daarheen. Bestaande betalingen houden hun wallet.',
    walletAsked:
      'Iemand wil de wallet van “{account}” wijzigen. Tot de wijziging ingaat, gaan betalingen naar de huidige wallet. Bestaande betalingen houden die.',
    walletAnybody: 'Iedereen in het team heeft bericht gekregen, en iedereen kan de wijziging stoppen.',
    walletKept:
      'De geplande wijziging van de wallet van “{account}” is gestopt. Betalingen gaan naar de wallet van voorheen.',
    linkClaimed:
      'De betaallink “{title}” is in “{account}” gezet. Het geld gaat naar de wallet {wallet}, en dat blijft zo.',
    linkNotYours: 'Is dit geen wallet van u? Pauzeer de link dan: kopers lezen uw naam op de pagina.',
    channelAdded: 'Vanaf nu krijgt “{name}” ({kind}) bericht over de betalingen van “{account}”.',
    channelRemoved: 'Vanaf nu krijgt “{name}” ({kind}) geen bericht meer over “{account}”.',
    channelBroken: '“{name}” ({kind}) neemt niets van “{account}” aan. Wat wacht, blijft 30 dagen bewaard.',
    keyCreated:
      'De API-sleutel “{name}” ({key}) van “{account}” is gemaakt. Wie de sleutel heeft, kan die vanaf nu gebruiken.',
    keyRevoked:
      'De API-sleutel “{name}” ({key}) van “{account}” is ingetrokken. Programma’s die de sleutel gebruiken, worden vanaf nu geweigerd.',
    unexpected: 'Niet verwacht? Kijk wie het was:',
    signIn:
      'Iemand heeft zich als {email} aangemeld met een browser die we nog niet kennen. De aanmelding kwam van het adres {ip}.',
    signInNot: 'Was u dat niet? Beëindig alle andere sessies en bekijk uw passkeys:',
    payoutHeld:
      'De uitbetaling van een betaling van “{account}” wordt vastgehouden. Het geld is veilig. Het komt aan zodra dit is opgelost.',
    heldBlacklisted: 'De uitgever van USDC weigert uw wallet. Stel een andere wallet in en schrijf ons.',
    heldRefused: 'De overboeking is geweigerd. We bekijken dit.',
    heldPolicy: 'Een regel van ons vraagt dat ons team dit bekijkt.',
    heldOperator: 'Ons team bekijkt dit.',
    endpointChanged:
      'Het webhook-endpoint {url} van ‘{account}’ is toegevoegd, gewijzigd, verwijderd of kreeg een nieuw geheim.',
    endpointGone: 'We hebben het webhook-endpoint {url} uitgeschakeld. Het antwoordde met 410: het bestaat niet meer.',
    endpointFailing:
      'We hebben het webhook-endpoint {url} uitgeschakeld. Vijf dagen lang nam het geen gebeurtenis aan.',
    endpointThen:
      'Betalingen gaan door. Gebeurtenissen die het mist, blijven bewaard en kunnen worden verzonden als het weer aan staat.',
  },
}
