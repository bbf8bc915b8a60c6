/**
 * The UPI apps that an iPhone can be asked to open, each by an address of its own: iOS has no question "with which
 * app?". They change, so they are data. Each takes the query of the `upi://pay` link (NPCI, UPI Linking Specification
 * 1.6). Source: https://poa.cybrilla.com/docs/capabilities/Payments/UPI_URI_usage
 */
export const UPI_APPS: readonly { readonly name: string; readonly opens: string }[] = [
  { name: 'PhonePe', opens: 'phonepe://pay' },
  { name: 'Google Pay', opens: 'tez://upi/pay' },
  { name: 'Paytm', opens: 'paytmmp://pay' },
]
