import { defineSearchAttributeKey } from '@temporalio/common'

/** The search attributes of PRODUCT.md 11: registered by the set-up, written at the start and at three moments after. */
export const PAYMENT_STATUS = defineSearchAttributeKey('PaymentStatus', 'KEYWORD')
export const MERCHANT_ID = defineSearchAttributeKey('MerchantId', 'KEYWORD')
export const PROVIDER = defineSearchAttributeKey('Provider', 'KEYWORD')
export const CURRENCY = defineSearchAttributeKey('Currency', 'KEYWORD')
export const NEEDS_OPERATOR = defineSearchAttributeKey('NeedsOperator', 'BOOL')
export const AMOUNT_MINOR = defineSearchAttributeKey('AmountMinor', 'INT')
export const EXPIRES_AT = defineSearchAttributeKey('ExpiresAt', 'DATETIME')
