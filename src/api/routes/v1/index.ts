import type { Operation } from '../../operation.ts'
import { type AccountDeps, applyForAccount, readAccount } from './account/account.ts'
import { listAuditLog } from './account/audit-log.ts'
import { listRequests, readRequest } from './account/request-log.ts'
import {
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  type TeamOperationDeps,
  updateMember,
  withdrawInvitation,
} from './account/team.ts'
import { type ApiKeyOperationDeps, createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from './api-keys.ts'
import { readBrand, setBrand } from './brand.ts'
import { readDeductions, setDeductions } from './deductions.ts'
import { acceptDispute, type DisputeDeps, submitDisputeEvidence } from './disputes/dispute-answer.ts'
import { listDisputes, readDispute } from './disputes/disputes.ts'
import { readEmbedding, setEmbedding } from './embedding.ts'
import { type EventsDeps, listEvents, readEvent } from './events.ts'
import { exportPayments, exportStatement } from './exports/exports.ts'
import {
  createPaymentLink,
  deactivatePaymentLink,
  type LinkOperationDeps,
  listPaymentLinks,
  readPaymentLink,
  updatePaymentLink,
} from './links/links.ts'
import {
  type ChannelOperationDeps,
  createNotificationChannel,
  deleteNotificationChannel,
  listChannelMessages,
  listNotificationChannels,
  readNotificationChannel,
  resumeNotificationChannel,
  testNotificationChannel,
  updateNotificationChannel,
} from './notifications/channels.ts'
import { createPayment, type PaymentCreateDeps } from './payments/payment-create.ts'
import { listPayments, readPaymentTimeline } from './payments/payment-list.ts'
import {
  cancelPayment,
  type PaymentOperationDeps,
  type PaymentUpdateDeps,
  readPayment,
  updatePayment,
} from './payments/payments.ts'
import { readPaymentReceipt } from './payments/receipt.ts'
import { simulatePayment } from './payments/simulate.ts'
import type { SimulateDeps } from './payments/simulate-outcome.ts'
import { skipTime } from './payments/skip-time.ts'
import { listProviders } from './providers.ts'
import { previewRoutes, type QuoteDeps, readQuote } from './quotes.ts'
import { createRefund, type RefundCreateDeps } from './refunds/refund-create.ts'
import { cancelRefund, fundRefund, listPaymentRefunds, listRefunds, readRefund } from './refunds/refunds.ts'
import { readWallet, type SettingsOperationDeps, setWallet, stopWalletChange } from './settings.ts'
import {
  type DeliveryOperationDeps,
  diagnoseDelivery,
  listDeliveries,
  redeliverEvent,
  redeliverFailed,
  testWebhookEndpoint,
} from './webhooks/deliveries.ts'
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  type EndpointOperationDeps,
  listWebhookEndpoints,
  readWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from './webhooks/endpoints.ts'

/** All that the operations need. */
export type OperationDeps = PaymentCreateDeps &
  PaymentOperationDeps &
  PaymentUpdateDeps &
  RefundCreateDeps &
  DisputeDeps &
  LinkOperationDeps &
  QuoteDeps &
  EventsDeps &
  EndpointOperationDeps &
  DeliveryOperationDeps &
  ApiKeyOperationDeps &
  SettingsOperationDeps &
  AccountDeps &
  ChannelOperationDeps &
  TeamOperationDeps &
  SimulateDeps

/** The router, the OpenAPI document and the tests read this list. */
export const OPERATIONS: readonly Operation<OperationDeps>[] = [
  createPayment,
  listPayments,
  readPaymentTimeline,
  readPayment,
  updatePayment,
  cancelPayment,
  readPaymentReceipt,
  listDisputes,
  readDispute,
  submitDisputeEvidence,
  acceptDispute,
  createRefund,
  listPaymentRefunds,
  listRefunds,
  readRefund,
  fundRefund,
  cancelRefund,
  createPaymentLink,
  listPaymentLinks,
  readPaymentLink,
  updatePaymentLink,
  deactivatePaymentLink,
  listProviders,
  readQuote,
  previewRoutes,
  listEvents,
  readEvent,
  createWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  listDeliveries,
  testWebhookEndpoint,
  redeliverEvent,
  diagnoseDelivery,
  redeliverFailed,
  createApiKey,
  listApiKeys,
  rotateApiKey,
  revokeApiKey,
  listRequests,
  readRequest,
  readAccount,
  applyForAccount,
  readWallet,
  setWallet,
  stopWalletChange,
  readBrand,
  setBrand,
  readDeductions,
  setDeductions,
  readEmbedding,
  setEmbedding,
  createNotificationChannel,
  listNotificationChannels,
  readNotificationChannel,
  listChannelMessages,
  updateNotificationChannel,
  deleteNotificationChannel,
  testNotificationChannel,
  resumeNotificationChannel,
  listMembers,
  updateMember,
  removeMember,
  listInvitations,
  inviteMember,
  withdrawInvitation,
  listAuditLog,
  exportPayments,
  exportStatement,
  simulatePayment,
  skipTime,
]
