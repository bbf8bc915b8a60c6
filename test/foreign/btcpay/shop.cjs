// @ts-nocheck -- the client is installed only for this test
// A shop on npm's btcpay-greenfield-node-client: it connects, adds a webhook, sells, and withdraws another order.
const {
  ApiKeysService,
  InvoicesService,
  OpenAPI,
  ServerInfoService,
  StoresService,
  WebhooksService,
} = require('btcpay-greenfield-node-client')

const { BASE, KEY, STORE, HOOK } = process.env
OpenAPI.BASE = BASE
OpenAPI.TOKEN = KEY

const refusal = (request) =>
  request.then(
    () => null,
    ({ status, body }) => ({ status, body }),
  )

async function main() {
  const storeId = STORE
  const key = await ApiKeysService.getApiKeysService()
  const server = await ServerInfoService.serverInfoGetServerInfo()
  const stores = await StoresService.storesGetStores()
  const authorizedEvents = { everything: true }
  const webhook = await WebhooksService.postWebhooksService({ storeId, requestBody: { url: HOOK, authorizedEvents } })
  const webhooks = await WebhooksService.webhokksGetWebhooks({ storeId })
  const sale = { amount: '49.99', currency: 'EUR', metadata: { orderId: 'node-1', posData: '{"cart":7}' } }
  const invoice = await InvoicesService.invoicesCreateInvoice({ storeId, requestBody: sale })
  const read = await InvoicesService.invoicesGetInvoice({ storeId, invoiceId: invoice.id })
  const other = await InvoicesService.invoicesCreateInvoice({ storeId, requestBody: sale })
  const marked = await InvoicesService.invoicesMarkInvoiceStatus({
    storeId,
    invoiceId: other.id,
    requestBody: { status: 'Invalid' },
  })
  const list = await InvoicesService.invoicesGetInvoices({ storeId })
  const refused = await refusal(
    InvoicesService.invoicesCreateInvoice({ storeId, requestBody: { ...sale, currency: 'BTC' } }),
  )
  const missing = await refusal(InvoicesService.invoicesGetInvoice({ storeId, invoiceId: 'none' }))
  console.log(JSON.stringify({ key, server, stores, webhook, webhooks, invoice, read, marked, list, refused, missing }))
}

void main()
