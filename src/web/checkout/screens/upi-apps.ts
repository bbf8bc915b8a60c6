/**
 * The UPI apps that the page can open on an iPhone, each by its own URL scheme: iOS does not ask which app to use. Each
 * takes the query of the `upi://pay` link (NPCI, UPI Linking Specification 1.6).
 * Source: https://poa.cybrilla.com/docs/capabilities/Payments/UPI_URI_usage
 */
export const UPI_APPS: readonly { readonly name: string; readonly opens: string }[] = [
  { name: 'PhonePe', opens: 'phonepe://pay' },
  { name: 'Google Pay', opens: 'tez://upi/pay' },
  { name: 'Paytm', opens: 'paytmmp://pay' },
]
