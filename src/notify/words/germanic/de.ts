import type { Words } from '../words.ts'

export const DE: Words = {
  happened: {
    'payment.succeeded': 'Zahlung erfolgreich',
    'payment.failed': 'Zahlung fehlgeschlagen',
    'payment.expired': 'Zahlung abgelaufen',
    'payment.canceled': 'Zahlung storniert',
    'payment.under_review': 'Zahlung muss angesehen werden',
    'payment.chargeback': 'Die Bank hat Geld zurückgeholt',
    'payment.refunded': 'Zahlung erstattet',
    'payment_link.completed': 'Zahlungslink aufgebraucht',
    'payment_link.stopped': 'Zahlungslink von uns angehalten',
    'payment_link.resumed': 'Zahlungslink geht wieder',
    'payment_link.claimed': 'Ein Zahlungslink wurde ins Konto übernommen',
    'webhook_endpoint.changed': 'Webhook-Endpunkt geändert',
    'webhook_endpoint.disabled': 'Webhook-Endpunkt abgeschaltet',
    'wallet.changed': 'Die Wallet wurde gesetzt',
    'wallet.planned': 'Die Wallet soll geändert werden',
    'wallet.kept': 'Die Änderung der Wallet wurde gestoppt',
    'channel.added': 'Ein Benachrichtigungskanal wurde hinzugefügt',
    'channel.removed': 'Ein Benachrichtigungskanal wurde entfernt',
    'channel.broken': 'Ein Benachrichtigungskanal nimmt nichts an',
    'api_key.created': 'Ein API-Schlüssel wurde erstellt',
    'api_key.revoked': 'Ein API-Schlüssel wurde widerrufen',
    'sign_in.new': 'Anmeldung von einem neuen Gerät',
    'payout.held': 'Eine Auszahlung wird zurückgehalten',
  },
  other: 'Etwas ist geschehen',
  arrives: 'kommen an',
  reference: 'Referenz',
  newWallet: 'Neue Wallet',
  takesEffect: 'Gilt ab',
  stop: 'Nicht erwartet? Mit einem Klick stoppen',
  says: 'Grund',
  repeated: 'Noch einmal gesendet, weil der erste Versuch keine Antwort bekam. Vielleicht haben Sie es schon.',
  test: 'Dieser Kanal funktioniert. Das war nur ein Test.',
  many: '{count, plural, one {# Benachrichtigung} other {# Benachrichtigungen}}',
  more: '{count, plural, one {und # weitere} other {und # weitere}}',
  mail: {
    walletSet:
      'Die Wallet von „{account}“ ist jetzt {address}. Neue Zahlungen gehen dorthin. Bestehende Zahlungen behalten ihre Wallet.',
    walletAsked:
      'Jemand möchte die Wallet von „{account}“ ändern. Bis die Änderung gilt, gehen Zahlungen an die heutige Wallet. Bestehende Zahlungen behalten sie.',
    walletAnybody: 'Alle im Team wurden benachrichtigt, und jeder kann die Änderung stoppen.',
    walletKept:
      'Die geplante Änderung der Wallet von „{account}“ wurde gestoppt. Zahlungen gehen an die bisherige Wallet.',
    linkClaimed:
      'Der Zahlungslink „{title}“ wurde in „{account}“ übernommen. Sein Geld geht an die Wallet {wallet}, und das bleibt so.',
    linkNotYours:
      'Das ist keine Wallet von Ihnen? Dann pausieren Sie den Link: Käufer lesen auf seiner Seite Ihren Namen.',
    channelAdded: 'Ab jetzt erfährt „{name}“ ({kind}) von den Zahlungen von „{account}“.',
    channelRemoved: 'Ab jetzt erfährt „{name}“ ({kind}) nichts mehr von „{account}“.',
    channelBroken: '„{name}“ ({kind}) nimmt nichts von „{account}“ an. Was wartet, wird 30 Tage lang aufgehoben.',
    keyCreated:
      'Der API-Schlüssel „{name}“ ({key}) von „{account}“ wurde erstellt. Wer ihn hat, kann ihn ab jetzt benutzen.',
    keyRevoked:
      'Der API-Schlüssel „{name}“ ({key}) von „{account}“ wurde widerrufen. Programme, die ihn benutzen, werden ab jetzt abgewiesen.',
    unexpected: 'Nicht erwartet? Sehen Sie nach, wer es war:',
    signIn:
      'Jemand hat sich als {email} mit einem Browser angemeldet, den wir noch nicht kennen. Die Anmeldung kam von der Adresse {ip}.',
    signInNot: 'Das waren nicht Sie? Beenden Sie alle anderen Sitzungen und prüfen Sie Ihre Passkeys:',
    payoutHeld:
      'Die Auszahlung einer Zahlung von „{account}“ wird zurückgehalten. Das Geld ist sicher. Es kommt erst an, wenn das geklärt ist.',
    heldBlacklisted: 'Der Herausgeber von USDC lehnt Ihre Wallet ab. Geben Sie eine andere an und schreiben Sie uns.',
    heldRefused: 'Die Übertragung wurde abgelehnt. Wir sehen sie uns an.',
    heldPolicy: 'Nach einer unserer Regeln muss unser Team sie prüfen.',
    heldOperator: 'Unser Team prüft sie.',
    endpointChanged:
      'Der Webhook-Endpunkt {url} von „{account}“ wurde hinzugefügt, geändert, gelöscht oder bekam ein neues Geheimnis.',
    endpointGone: 'Wir haben den Webhook-Endpunkt {url} abgeschaltet. Er antwortete mit 410: Es gibt ihn nicht mehr.',
    endpointFailing:
      'Wir haben den Webhook-Endpunkt {url} abgeschaltet. Fünf Tage lang hat er kein Ereignis angenommen.',
    endpointThen:
      'Zahlungen gehen weiter. Ereignisse, die er verpasst, werden aufgehoben und lassen sich senden, wenn er wieder an ist.',
  },
}
