import { translation } from '../translation.ts'
import { hiAfter } from './after.ts'
import { hiBefore } from './before.ts'
import { hiLink } from './link.ts'

/** The texts of the checkout in Hindi. How they came about: docs/translations.md. */
export const hi = translation({
  'page.skip': 'भुगतान पर जाएँ',
  'page.test_mode': 'टेस्ट मोड',
  'page.test': 'टेस्ट',
  'page.test.text': 'कोई असली पैसा नहीं जाता।',
  'page.footer': 'Pinrail का भुगतान पेज',
  'page.whole': 'पूरे पेज में खोलें',
  'page.language': 'भाषा',

  'title.pay': '{merchant} को {amount} का भुगतान करें',
  'title.state': '{state}: {merchant} को {amount}',
  'title.unpaid': 'अभी भुगतान नहीं हुआ',
  'title.not_offered': 'यहाँ से संभव नहीं',
  'title.tries': 'बहुत बार शुरू किया गया',
  'title.declined': 'अस्वीकृत',
  'title.checking_with': '{partner} से जाँच जारी',
  'title.verification': 'पहचान की जाँच',
  'title.progress': 'रास्ते में',
  'title.checking': 'जाँच में',
  'title.done': 'भुगतान हो गया',
  'title.twice': 'दो बार भुगतान हुआ',
  'title.expired': 'समय समाप्त',
  'title.canceled': 'रद्द',
  'title.failed': 'पूरा नहीं हुआ',
  'title.refunded': 'लौटाया गया',
  'title.receipt': '{merchant} की रसीद',
  'title.receipt_test': '{merchant} की टेस्ट रसीद',

  'sum.pay': 'देय राशि',
  'sum.paid': 'आपने चुकाया',
  'sum.price': 'कीमत',
  'sum.not_charged': 'पैसा नहीं कटा',
  'sum.returned': 'लौटाया गया',

  'panel.details': 'इस भुगतान का विवरण',
  'panel.order': 'ऑर्डर',
  'panel.open_until': 'इस समय तक खुला',
  'panel.from': 'भुगतान का देश',
  'panel.question': 'अपने ऑर्डर के बारे में कोई सवाल?',

  'stop.past': 'पूरा',
  'stop.now': 'अभी',
  'stop.since': '{time} से',
  'stop.until': '{time} तक',
  'rail.where': 'आपका भुगतान कहाँ है',
  'rail.how': 'यह कैसे होता है',

  'shop.back': 'वापस {merchant} पर',
  'copy.button': 'कॉपी करें',
  'copy.done': 'कॉपी हो गया',

  'phone.title': 'अपने फ़ोन पर जारी रखें',
  'phone.text': 'यह कोड स्कैन करें या वहाँ लिंक खोलें। दोनों डिवाइस एक ही भुगतान दिखाते हैं।',
  'phone.code': '{merchant} को {amount} के इस भुगतान के लिंक वाला QR कोड',
  'phone.link': 'इस पेज का लिंक',

  'offline.heading': 'आप ऑफ़लाइन हैं।',
  'offline.goes_on': 'आपका भुगतान जारी है।',
  'offline.waits': 'यह पेज पुराना हो सकता है।',
  'offline.last': 'पिछला अपडेट: {time}',

  'about.seconds': 'लगभग {count, plural, one {# सेकंड} other {# सेकंड}}',
  'about.minutes': 'लगभग {count, plural, one {# मिनट} other {# मिनट}}',

  ...hiBefore,
  ...hiAfter,
  ...hiLink,

  'problem.back': 'भुगतान पर वापस जाएँ',
  'problem.retry': 'फिर कोशिश करें',
  'problem.not_found.heading': 'ऐसा कोई भुगतान नहीं है',
  'problem.not_found.text': 'देखें कि आपके पास पूरा लिंक है, या दुकान से नया लिंक माँगें।',
  'problem.bad_request.heading': 'यह नहीं हो सका',
  'problem.bad_request.text': 'आपके ब्राउज़र ने जो भेजा, वह पढ़ा नहीं जा सका। भुगतान पर वापस जाकर फिर कोशिश करें।',
  'problem.forbidden.heading': 'कृपया भुगतान पेज से शुरू करें',
  'problem.forbidden.text': 'यह कदम किसी दूसरी साइट ने माँगा था। भुगतान पेज खोलें और वहाँ बटन दबाएँ।',
  'problem.method_not_allowed.heading': 'यह नहीं हो सका',
  'problem.method_not_allowed.text': 'यह पता केवल भुगतान पेज के बटनों के लिए है।',
  'problem.unavailable.heading': 'भुगतान अभी नहीं खुल सकता',
  'problem.unavailable.text': 'कुछ खोया नहीं है और आपका पैसा नहीं कटा है। थोड़ा रुककर फिर कोशिश करें।',
  'problem.busy.heading': 'कृपया एक पल रुकें',
  'problem.busy.text': 'यह पेज अभी नहीं दिखाया जा सकता। आपके भुगतान पर कोई असर नहीं है। थोड़ी देर में फिर कोशिश करें।',
  'problem.internal.heading': 'हमारी ओर से कुछ गड़बड़ हुई',
  'problem.internal.text': 'आपके भुगतान पर कोई असर नहीं है। थोड़ी देर में यह पेज दोबारा लोड करें।',
})
