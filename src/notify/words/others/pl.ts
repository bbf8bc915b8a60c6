import type { Words } from '../words.ts'

export const PL: Words = {
  happened: {
    'payment.succeeded': 'Płatność zakończona',
    'payment.failed': 'Płatność nieudana',
    'payment.expired': 'Płatność wygasła',
    'payment.canceled': 'Płatność anulowana',
    'payment.under_review': 'Płatność wymaga sprawdzenia',
    'payment.chargeback': 'Bank odebrał pieniądze',
    'payment.refunded': 'Płatność zwrócona',
    'payment_link.completed': 'Link do płatności wykorzystany',
    'payment_link.stopped': 'Zatrzymaliśmy link do płatności',
    'payment_link.resumed': 'Link do płatności znowu działa',
    'payment_link.claimed': 'Link do płatności przeniesiono na konto',
    'webhook_endpoint.changed': 'Punkt końcowy webhooka zmieniony',
    'webhook_endpoint.disabled': 'Punkt końcowy webhooka wyłączony',
    'wallet.changed': 'Portfel został ustawiony',
    'wallet.planned': 'Portfel wkrótce się zmieni',
    'wallet.kept': 'Zmiana portfela została zatrzymana',
    'channel.added': 'Dodano kanał powiadomień',
    'channel.removed': 'Usunięto kanał powiadomień',
    'channel.broken': 'Kanał powiadomień nie przyjmuje wiadomości',
    'api_key.created': 'Utworzono klucz API',
    'api_key.revoked': 'Unieważniono klucz API',
    'sign_in.new': 'Logowanie z nowego urządzenia',
    'payout.held': 'Wypłata jest wstrzymana',
  },
  other: 'Coś się wydarzyło',
  arrives: 'dotrze',
  reference: 'Numer referencyjny',
  newWallet: 'Nowy portfel',
  takesEffect: 'Obowiązuje od',
  stop: 'Nieoczekiwane? Można to zatrzymać jednym kliknięciem',
  says: 'Powód',
  repeated: 'Wysłano ponownie, bo pierwsza próba pozostała bez odpowiedzi. Być może wiadomość już dotarła.',
  test: 'Ten kanał działa. To był tylko test.',
  many: '{count, plural, one {# powiadomienie} few {# powiadomienia} many {# powiadomień} other {# powiadomienia}}',
  more: '{count, plural, one {i jeszcze #} few {i jeszcze #} many {i jeszcze #} other {i jeszcze #}}',
  mail: {
    walletSet:
      'Portfel konta „{account}” to teraz {address}. Nowe płatności trafiają tam. Istniejące płatności zachowują swój portfel.',
    walletAsked:
      'Ktoś chce zmienić portfel konta „{account}”. Dopóki zmiana nie obowiązuje, płatności trafiają do dzisiejszego portfela. Istniejące płatności go zachowują.',
    walletAnybody: 'Cały zespół dostał wiadomość i każdy może zatrzymać zmianę.',
    walletKept:
      'Planowana zmiana portfela konta „{account}” została zatrzymana. Płatności trafiają do poprzedniego portfela.',
    linkClaimed:
      'Link do płatności „{title}” przeniesiono na konto „{account}”. Pieniądze trafiają do portfela {wallet} i tak pozostanie.',
    linkNotYours: 'To nie Państwa portfel? Proszę wstrzymać link: kupujący widzą na jego stronie Państwa nazwę.',
    channelAdded: 'Od teraz „{name}” ({kind}) dostaje powiadomienia o płatnościach konta „{account}”.',
    channelRemoved: 'Od teraz „{name}” ({kind}) nie dostaje powiadomień konta „{account}”.',
    channelBroken: '„{name}” ({kind}) nie przyjmuje niczego od konta „{account}”. To, co czeka, przechowujemy 30 dni.',
    keyCreated: 'Utworzono klucz API „{name}” ({key}) konta „{account}”. Kto go ma, może go od teraz używać.',
    keyRevoked:
      'Unieważniono klucz API „{name}” ({key}) konta „{account}”. Programy, które go używają, są od teraz odrzucane.',
    unexpected: 'Nieoczekiwane? Tu widać, kto to zrobił:',
    signIn: 'Zalogowano się jako {email} w przeglądarce, której jeszcze nie znamy. Logowanie przyszło z adresu {ip}.',
    signInNot: 'To nie Państwo? Proszę zakończyć wszystkie inne sesje i sprawdzić klucze dostępu:',
    payoutHeld:
      'Wypłata z płatności konta „{account}” jest wstrzymana. Pieniądze są bezpieczne. Dotrą, gdy sprawa się wyjaśni.',
    heldBlacklisted: 'Emitent USDC odrzuca Państwa portfel. Proszę podać inny portfel i napisać do nas.',
    heldRefused: 'Przelew został odrzucony. Sprawdzamy to.',
    heldPolicy: 'Według naszej reguły musi to sprawdzić nasz zespół.',
    heldOperator: 'Sprawdza to nasz zespół.',
    endpointChanged:
      'Punkt końcowy webhooka {url} konta „{account}” został dodany, zmieniony, usunięty lub otrzymał nowy sekret.',
    endpointGone: 'Wyłączyliśmy punkt końcowy webhooka {url}. Odpowiedział kodem 410: już go nie ma.',
    endpointFailing: 'Wyłączyliśmy punkt końcowy webhooka {url}. Przez pięć dni nie przyjął żadnego zdarzenia.',
    endpointThen:
      'Płatności działają dalej. Pominięte zdarzenia przechowujemy i można je wysłać po ponownym włączeniu.',
  },
}
