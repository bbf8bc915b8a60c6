import { defineSearchAttributeKey } from '@temporalio/common'

/** Search attributes. The set-up registers them, and a start writes them. operator-view.ts updates two of them. */
export const PAYMENT_STATUS = defineSearchAttributeKey('PaymentStatus', 'KEYWORD')
export const MERCHANT_ID = defineSearchAttributeKey('MerchantId', 'KEYWORD')
export const PROVIDER = defineSearchAttributeKey('Provider', 'KEYWORD')
export const CURRENCY = defineSearchAttributeKey('Currency', 'KEYWORD')
export const NEEDS_OPERATOR = defineSearchAttributeKey('NeedsOperator', 'BOOL')
export const AMOUNT_MINOR = defineSearchAttributeKey('AmountMinor', 'INT')
export const EXPIRES_AT = defineSearchAttributeKey('ExpiresAt', 'DATETIME')
