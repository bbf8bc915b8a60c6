import { translation } from '../translation.ts'
import { arAfter } from './after.ts'
import { arBefore } from './before.ts'
import { arLink } from './link.ts'

/** The texts of the checkout in Arabic. How they came about: docs/translations.md. */
export const ar = translation({
  'page.skip': 'انتقل إلى الدفع',
  'page.test_mode': 'وضع الاختبار',
  'page.test': 'اختبار',
  'page.test.text': 'لا تُنقل أموال حقيقية.',
  'page.footer': 'صفحة الدفع من Pinrail',
  'page.whole': 'افتح في صفحة كاملة',
  'page.language': 'اللغة',

  'title.pay': 'ادفع {amount} إلى {merchant}',
  'title.state': '{state}: {amount} إلى {merchant}',
  'title.unpaid': 'لم تُدفع بعد',
  'title.not_offered': 'غير ممكنة من هنا',
  'title.tries': 'بُدئت مرات كثيرة جدًا',
  'title.declined': 'مرفوضة',
  'title.checking_with': 'جارٍ التحقق لدى {partner}',
  'title.verification': 'التحقق من الهوية',
  'title.progress': 'في الطريق',
  'title.checking': 'قيد المراجعة',
  'title.done': 'مدفوعة',
  'title.twice': 'مدفوعة مرتين',
  'title.expired': 'منتهية الصلاحية',
  'title.canceled': 'ملغاة',
  'title.failed': 'لم تكتمل',
  'title.refunded': 'مُعادة',
  'title.receipt': 'إيصال من {merchant}',
  'title.receipt_test': 'إيصال اختباري من {merchant}',

  'sum.pay': 'المبلغ المطلوب',
  'sum.paid': 'المبلغ المدفوع',
  'sum.price': 'السعر',
  'sum.not_charged': 'لم يُخصم',
  'sum.returned': 'مُعاد',

  'panel.details': 'تفاصيل هذه الدفعة',
  'panel.order': 'الطلب',
  'panel.open_until': 'متاحة حتى',
  'panel.from': 'تدفع من',
  'panel.question': 'هل لديك سؤال عن طلبك؟',

  'stop.past': 'تم',
  'stop.now': 'الآن',
  'stop.since': 'منذ {time}',
  'stop.until': 'حتى {time}',
  'rail.where': 'أين وصلت دفعتك',
  'rail.how': 'كيف تسير',

  'shop.back': 'العودة إلى {merchant}',
  'copy.button': 'نسخ',
  'copy.done': 'تم النسخ',

  'phone.title': 'المتابعة على هاتفك',
  'phone.text': 'امسح هذا الرمز أو افتح الرابط هناك. يعرض الجهازان الدفعة نفسها.',
  'phone.code': 'رمز QR برابط هذه الدفعة بمبلغ {amount} إلى {merchant}',
  'phone.link': 'رابط هذه الصفحة',

  'offline.heading': 'أنت غير متصل بالإنترنت.',
  'offline.goes_on': 'دفعتك مستمرة.',
  'offline.waits': 'قد لا تكون هذه الصفحة محدّثة.',
  'offline.last': 'آخر تحديث: {time}',

  'about.seconds':
    'نحو {count, plural, zero {# ثانية} one {ثانية واحدة} two {ثانيتين} few {# ثوانٍ} many {# ثانية} other {# ثانية}}',
  'about.minutes':
    'نحو {count, plural, zero {# دقيقة} one {دقيقة واحدة} two {دقيقتين} few {# دقائق} many {# دقيقة} other {# دقيقة}}',

  ...arBefore,
  ...arAfter,
  ...arLink,

  'problem.back': 'العودة إلى الدفعة',
  'problem.retry': 'حاول مرة أخرى',
  'problem.not_found.heading': 'لا توجد دفعة كهذه',
  'problem.not_found.text': 'تأكد من أن لديك الرابط كاملًا، أو اطلب رابطًا جديدًا من المتجر.',
  'problem.bad_request.heading': 'لم ينجح ذلك',
  'problem.bad_request.text': 'تعذّرت قراءة ما أرسله متصفحك. عُد إلى الدفعة وحاول مرة أخرى.',
  'problem.forbidden.heading': 'يُرجى البدء من صفحة الدفع',
  'problem.forbidden.text': 'طلب موقعٌ آخر هذه الخطوة. افتح صفحة الدفع واضغط الزر هناك.',
  'problem.method_not_allowed.heading': 'لم ينجح ذلك',
  'problem.method_not_allowed.text': 'هذا العنوان مخصص لأزرار صفحة الدفع فقط.',
  'problem.unavailable.heading': 'لا يمكن فتح الدفعة الآن',
  'problem.unavailable.text': 'لم يضع شيء ولم يُخصم منك شيء. انتظر قليلًا ثم حاول مرة أخرى.',
  'problem.busy.heading': 'لحظة من فضلك',
  'problem.busy.text': 'لا يمكن عرض هذه الصفحة الآن. لم تتأثر دفعتك. حاول مرة أخرى بعد قليل.',
  'problem.internal.heading': 'حدث خطأ من جانبنا',
  'problem.internal.text': 'لم تتأثر دفعتك. أعد تحميل هذه الصفحة بعد قليل.',
})
