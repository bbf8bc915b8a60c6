import { translation } from '../translation.ts'
import { esAfter } from './after.ts'
import { esBefore } from './before.ts'
import { esLink } from './link.ts'

/** The texts of the checkout in Spanish. How they came about: docs/translations.md. */
export const es = translation({
  'page.skip': 'Ir al pago',
  'page.test_mode': 'Modo de prueba',
  'page.test': 'Prueba',
  'page.test.text': 'No se mueve dinero real.',
  'page.footer': 'Página de pago de Pinrail',
  'page.whole': 'Abrir en una página completa',
  'page.language': 'Idioma',

  'title.pay': 'Pagar {amount} a {merchant}',
  'title.state': '{state}: {amount} a {merchant}',
  'title.unpaid': 'Aún sin pagar',
  'title.not_offered': 'No es posible desde aquí',
  'title.tries': 'Iniciado demasiadas veces',
  'title.declined': 'Rechazado',
  'title.checking_with': 'Consultando a {partner}',
  'title.verification': 'Verificación de identidad',
  'title.progress': 'En camino',
  'title.checking': 'En revisión',
  'title.done': 'Pagado',
  'title.twice': 'Pagado dos veces',
  'title.expired': 'Caducado',
  'title.canceled': 'Cancelado',
  'title.failed': 'No se completó',
  'title.refunded': 'Devuelto',
  'title.receipt': 'Recibo de {merchant}',
  'title.receipt_test': 'Recibo de prueba de {merchant}',

  'sum.pay': 'A pagar',
  'sum.paid': 'Pagado',
  'sum.price': 'Precio',
  'sum.not_charged': 'Sin cargo',
  'sum.returned': 'Devuelto',

  'panel.details': 'Detalles de este pago',
  'panel.order': 'Pedido',
  'panel.open_until': 'Abierto hasta',
  'panel.from': 'Paga desde',
  'panel.question': '¿Una pregunta sobre su pedido?',

  'stop.past': 'hecho',
  'stop.now': 'ahora',
  'stop.since': 'desde: {time}',
  'stop.until': 'hasta: {time}',
  'rail.where': 'Dónde está su pago',
  'rail.how': 'Cómo funciona',

  'shop.back': 'Volver a {merchant}',
  'copy.button': 'Copiar',
  'copy.done': 'Copiado',

  'phone.title': 'Continuar en su teléfono',
  'phone.text': 'Escanee este código o abra allí el enlace. Los dos dispositivos muestran el mismo pago.',
  'phone.code': 'Código QR con el enlace a este pago de {amount} a {merchant}',
  'phone.link': 'Enlace a esta página',

  'offline.heading': 'No tiene conexión.',
  'offline.goes_on': 'Su pago sigue su curso.',
  'offline.waits': 'Puede que esta página no esté al día.',
  'offline.last': 'Última actualización: {time}',

  'about.seconds': 'unos {count, plural, one {# segundo} many {# segundos} other {# segundos}}',
  'about.minutes': '{count, plural, one {cerca de # minuto} many {unos # minutos} other {unos # minutos}}',

  ...esBefore,
  ...esAfter,
  ...esLink,

  'problem.back': 'Volver al pago',
  'problem.retry': 'Reintentar',
  'problem.not_found.heading': 'Este pago no existe',
  'problem.not_found.text': 'Compruebe que tiene el enlace completo o pida uno nuevo a la tienda.',
  'problem.bad_request.heading': 'No ha funcionado',
  'problem.bad_request.text': 'No se ha podido leer lo que envió su navegador. Vuelva al pago e inténtelo de nuevo.',
  'problem.forbidden.heading': 'Empiece desde la página de pago',
  'problem.forbidden.text': 'Otro sitio ha pedido este paso. Abra la página de pago y pulse allí el botón.',
  'problem.method_not_allowed.heading': 'No ha funcionado',
  'problem.method_not_allowed.text': 'Esta dirección es solo para los botones de la página de pago.',
  'problem.unavailable.heading': 'El pago no se puede abrir en este momento',
  'problem.unavailable.text': 'No se ha perdido nada ni se le ha cobrado. Espere un momento e inténtelo de nuevo.',
  'problem.busy.heading': 'Un momento, por favor',
  'problem.busy.text':
    'Esta página no se puede mostrar ahora. Su pago no se ve afectado. Inténtelo de nuevo en un momento.',
  'problem.internal.heading': 'Algo ha fallado por nuestra parte',
  'problem.internal.text': 'Su pago no se ve afectado. Vuelva a cargar esta página en un momento.',
})
