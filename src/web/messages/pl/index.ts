import { translation } from '../translation.ts'
import { plAfter } from './after.ts'
import { plBefore } from './before.ts'
import { plLink } from './link.ts'

/** The texts of the checkout in Polish. How they came about: docs/translations.md. */
export const pl = translation({
  'page.skip': 'Przejdź do płatności',
  'page.test_mode': 'Tryb testowy',
  'page.test': 'Test',
  'page.test.text': 'Prawdziwe pieniądze nie są przesyłane.',
  'page.footer': 'Strona płatności Pinrail',
  'page.whole': 'Otwórz jako pełną stronę',
  'page.language': 'Język',

  'title.pay': 'Płatność {amount} – {merchant}',
  'title.state': '{state}: {amount} – {merchant}',
  'title.unpaid': 'Jeszcze nie zapłacono',
  'title.not_offered': 'Niemożliwe z tego miejsca',
  'title.tries': 'Zbyt wiele prób',
  'title.declined': 'Odrzucono',
  'title.checking_with': 'Sprawdzanie w {partner}',
  'title.verification': 'Weryfikacja tożsamości',
  'title.progress': 'W drodze',
  'title.checking': 'W trakcie sprawdzania',
  'title.done': 'Zapłacono',
  'title.twice': 'Zapłacono dwa razy',
  'title.expired': 'Wygasła',
  'title.canceled': 'Anulowano',
  'title.failed': 'Nie doszła do skutku',
  'title.refunded': 'Zwrócono',
  'title.receipt': 'Potwierdzenie – {merchant}',
  'title.receipt_test': 'Potwierdzenie testowe – {merchant}',

  'sum.pay': 'Do zapłaty',
  'sum.paid': 'Zapłacono',
  'sum.price': 'Cena',
  'sum.not_charged': 'Nie pobrano',
  'sum.returned': 'Zwrócono',

  'panel.details': 'Szczegóły tej płatności',
  'panel.order': 'Zamówienie',
  'panel.open_until': 'Otwarta do',
  'panel.from': 'Kraj płatności',
  'panel.question': 'Pytanie dotyczące zamówienia?',

  'stop.past': 'gotowe',
  'stop.now': 'teraz',
  'stop.since': 'od {time}',
  'stop.until': 'do {time}',
  'rail.where': 'Gdzie jest Państwa płatność',
  'rail.how': 'Jak to przebiega',

  'shop.back': 'Powrót: {merchant}',
  'copy.button': 'Kopiuj',
  'copy.done': 'Skopiowano',

  'phone.title': 'Dalej na telefonie',
  'phone.text': 'Proszę zeskanować ten kod lub otworzyć tam link. Oba urządzenia pokazują tę samą płatność.',
  'phone.code': 'Kod QR z linkiem do tej płatności: {amount}, {merchant}',
  'phone.link': 'Link do tej strony',

  'offline.heading': 'Brak połączenia.',
  'offline.goes_on': 'Płatność jest kontynuowana.',
  'offline.waits': 'Ta strona może być nieaktualna.',
  'offline.last': 'Ostatnia aktualizacja: {time}',

  'about.seconds': 'około {count, plural, one {# sekundy} few {# sekund} many {# sekund} other {# sekundy}}',
  'about.minutes': 'około {count, plural, one {# minuty} few {# minut} many {# minut} other {# minuty}}',

  ...plBefore,
  ...plAfter,
  ...plLink,

  'problem.back': 'Powrót do płatności',
  'problem.retry': 'Spróbuj ponownie',
  'problem.not_found.heading': 'Nie ma takiej płatności',
  'problem.not_found.text': 'Proszę sprawdzić, czy link jest pełny, lub poprosić sklep o nowy.',
  'problem.bad_request.heading': 'Nie udało się',
  'problem.bad_request.text':
    'Nie udało się odczytać danych z przeglądarki. Proszę wrócić do płatności i spróbować ponownie.',
  'problem.forbidden.heading': 'Proszę zacząć na stronie płatności',
  'problem.forbidden.text':
    'O ten krok poprosiła inna witryna. Proszę otworzyć stronę płatności i nacisnąć tam przycisk.',
  'problem.method_not_allowed.heading': 'Nie udało się',
  'problem.method_not_allowed.text': 'Ten adres służy tylko przyciskom strony płatności.',
  'problem.unavailable.heading': 'Płatności nie można teraz otworzyć',
  'problem.unavailable.text': 'Nic nie zginęło i nic nie pobrano. Proszę chwilę zaczekać i spróbować ponownie.',
  'problem.busy.heading': 'Chwileczkę',
  'problem.busy.text':
    'Tej strony nie można teraz wyświetlić. Nie ma to wpływu na płatność. Proszę spróbować za chwilę.',
  'problem.internal.heading': 'Coś poszło nie tak po naszej stronie',
  'problem.internal.text': 'Nie ma to wpływu na płatność. Proszę za chwilę odświeżyć tę stronę.',
})
