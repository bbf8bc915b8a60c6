/** The page that verifies receipts in the browser. */
export const VERIFY_PAGE = '/receipts/verify'

/** The address of the verifier with the receipt of a payment. A browser sends no part of it after the `#`. */
export const getProofPage = (checkoutPath: string): string => `${VERIFY_PAGE}#${checkoutPath}/receipt.json`
