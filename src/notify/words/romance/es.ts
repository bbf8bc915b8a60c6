import type { Words } from '../words.ts'

export const ES: Words = {
  happened: {
    'payment.succeeded': 'Pago completado',
    'payment.failed': 'Pago fallido',
    'payment.expired': 'Pago caducado',
    'payment.canceled': 'Pago cancelado',
    'payment.under_review': 'Un pago requiere revisión',
    'payment.chargeback': 'El banco ha recuperado el dinero',
    'payment.refunded': 'Pago reembolsado',
    'payment_link.completed': 'Enlace de pago agotado',
    'payment_link.stopped': 'Detuvimos un enlace de pago',
    'payment_link.resumed': 'El enlace de pago vuelve a funcionar',
    'payment_link.claimed': 'Se incorporó un enlace de pago a la cuenta',
    'webhook_endpoint.changed': 'Endpoint de webhook modificado',
    'webhook_endpoint.disabled': 'Endpoint de webhook desactivado',
    'wallet.changed': 'Se ha fijado el monedero',
    'wallet.planned': 'El monedero está a punto de cambiar',
    'wallet.kept': 'Se ha detenido el cambio de monedero',
    'channel.added': 'Se añadió un canal de avisos',
    'channel.removed': 'Se eliminó un canal de avisos',
    'channel.broken': 'Un canal de avisos no acepta nada',
    'api_key.created': 'Se creó una clave de API',
    'api_key.revoked': 'Se revocó una clave de API',
    'sign_in.new': 'Inicio de sesión desde un dispositivo nuevo',
    'payout.held': 'Un abono a su monedero está retenido',
  },
  other: 'Ha ocurrido algo',
  arrives: 'llegan',
  reference: 'Referencia',
  newWallet: 'Nuevo monedero',
  takesEffect: 'En vigor desde',
  stop: '¿No lo esperaba? Deténgalo con un clic',
  says: 'Motivo',
  repeated: 'Enviado otra vez, porque el primer intento quedó sin respuesta. Puede que ya lo tenga.',
  test: 'Este canal funciona. Era solo una prueba.',
  many: '{count, plural, one {# aviso} many {# de avisos} other {# avisos}}',
  more: '{count, plural, one {y # más} many {y # más} other {y # más}}',
  mail: {
    walletSet:
      'El monedero de «{account}» es ahora {address}. Los pagos nuevos van allí. Los pagos existentes conservan su monedero.',
    walletAsked:
      'Alguien ha pedido cambiar el monedero de «{account}». Hasta que el cambio entre en vigor, los pagos van al monedero de hoy. Los pagos existentes lo conservan.',
    walletAnybody: 'Se ha avisado a todo el equipo, y cualquiera puede detener el cambio.',
    walletKept: 'Se ha detenido el cambio previsto del monedero de «{account}». Los pagos van al monedero de antes.',
    linkClaimed:
      'El enlace de pago «{title}» se ha incorporado a «{account}». Su dinero va al monedero {wallet}, y así seguirá.',
    linkNotYours:
      '¿No es un monedero suyo? Entonces ponga el enlace en pausa: los compradores leen su nombre en la página.',
    channelAdded: 'A partir de ahora, «{name}» ({kind}) recibe avisos de los pagos de «{account}».',
    channelRemoved: 'A partir de ahora, «{name}» ({kind}) no recibe ningún aviso de «{account}».',
    channelBroken: '«{name}» ({kind}) no acepta nada de «{account}». Lo que espera se guarda 30 días.',
    keyCreated:
      'Se ha creado la clave de API «{name}» ({key}) de «{account}». Quien la tenga puede usarla desde ahora.',
    keyRevoked:
      'Se ha revocado la clave de API «{name}» ({key}) de «{account}». Los programas que la usen se rechazan desde ahora.',
    unexpected: '¿No lo esperaba? Mire quién lo hizo:',
    signIn:
      'Alguien ha iniciado sesión como {email} con un navegador que no habíamos visto. Venía de la dirección {ip}.',
    signInNot: '¿No fue usted? Cierre todas las demás sesiones y revise sus llaves de acceso:',
    payoutHeld:
      'El abono de un pago de «{account}» está retenido. El dinero está a salvo. No llega hasta que esto se resuelva.',
    heldBlacklisted: 'El emisor de USDC rechaza su monedero. Indique otro monedero y escríbanos.',
    heldRefused: 'La transferencia fue rechazada. La estamos revisando.',
    heldPolicy: 'Una de nuestras reglas pide que la revise nuestro equipo.',
    heldOperator: 'Nuestro equipo la está revisando.',
    endpointChanged:
      'El endpoint de webhook {url} de «{account}» se añadió, se modificó, se eliminó o recibió un nuevo secreto.',
    endpointGone: 'Hemos desactivado el endpoint de webhook {url}. Respondió 410: ya no existe.',
    endpointFailing: 'Hemos desactivado el endpoint de webhook {url}. Durante cinco días no aceptó ningún evento.',
    endpointThen:
      'Los pagos siguen. Los eventos que se pierda se guardan y pueden enviarse cuando vuelva a estar activo.',
  },
}
