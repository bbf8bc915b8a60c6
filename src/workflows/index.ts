/** The exports that are bundled for the workflow sandbox. */
export { notification } from './notifications/notification.ts'
export { payment } from './payment.ts'
export { refund } from './refund.ts'
export { webhookDelivery } from './webhook-delivery.ts'
export { webhookDiagnosis } from './webhook-diagnosis.ts'
