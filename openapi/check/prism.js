// Sends one request of every operation through Prism, a proxy that compares requests
// and responses with a document and responds with 500 or 422 if one of them does not conform.
// BASE is a service with demo data, ADMIN its port of operators, TOKEN a merchant's token with
// all scopes, OPERATOR an operator's.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const { BASE, ADMIN, TOKEN, OPERATOR } = process.env
const program = 'node_modules/@stoplight/prism-cli/dist/index.js'
const file = { filename: 'invoice.pdf', contentBase64: 'JVBERi0xLjQ=' }

// freePort returns a port that nobody listens on.
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

// start starts a proxy of a port for a document and waits until it listens.
async function start(name, base) {
  const port = await freePort()
  const proxy = spawn(process.execPath, [program, 'proxy', `${name}.json`, base, '--errors', '--port', `${port}`])
  let output = ''
  await new Promise((resolve, reject) => {
    const read = (text) => {
      output += text
      if (output.includes('is listening')) resolve()
    }
    proxy.stdout.on('data', read)
    proxy.stderr.on('data', read)
    proxy.on('exit', () => reject(new Error(`Prism for ${name} ended: ${output}`)))
  })
  proxy.removeAllListeners('exit')
  return { proxy, address: `http://127.0.0.1:${port}` }
}

// throughPrism calls each of some functions, by their port, with a function that calls an
// operation of a document there, and then checks that every operation was called.
async function throughPrism(name, token, uses) {
  const operations = new Map()
  for (const [path, methods] of Object.entries(JSON.parse(readFileSync(`${name}.json`)).paths)) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      if (operationId) operations.set(operationId, { method: method.toUpperCase(), path })
    }
  }
  const left = new Set(operations.keys())
  // A body that is an array is sent as lines.
  const callAt = (address) => async (operation, values = {}, body) => {
    left.delete(operation)
    const { method, path } = operations.get(operation)
    const url = address + path.replace(/{(\w+)}/g, (_, key) => encodeURIComponent(values[key]))
    const lines = Array.isArray(body)
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': lines ? 'application/x-ndjson' : 'application/json' }
    const text = lines ? body.map((line) => JSON.stringify(line) + '\n').join('') : body && JSON.stringify(body)
    const response = await fetch(url, { method, headers, body: text })
    const result = await response.text()
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${result}`)
    return response.headers.get('Content-Type').startsWith('application/json') ? JSON.parse(result) : result
  }
  for (const [base, use] of Object.entries(uses)) {
    const { proxy, address } = await start(name, base)
    try {
      await use(callAt(address))
    } finally {
      proxy.kill()
    }
  }
  if (left.size) throw new Error(`${name}: not called: ${[...left].join(', ')}`)
}

// webhookCalls calls every operation of the webhooks of a merchant. values are those of
// the path. Nobody listens at the address: that is the result of each delivery.
async function webhookCalls(call, values) {
  const { webhook } = await call('createWebhook', values, { url: 'https://127.0.0.1:1/orders' })
  const at = { ...values, webhookId: webhook.id }
  await call('listWebhooks', values)
  await call('getWebhook', at)
  await call('updateWebhook', at, { description: 'orders' })
  await call('rotateWebhookSecret', at, {})
  await call('testWebhook', at)
  await call('redeliverEvent', at, { event: 1 })
  await call('replayEvents', at, { after: 0 })
  await call('listDeliveries', at)
  await call('deleteWebhook', at)
}

let url, link
await throughPrism('v1', TOKEN, { [BASE]: async (call) => {
  const { orders } = await call('listOrders')
  const orderId = orders.find((order) => order.status === 'O').order_id
  await call('getOrder', { orderId })
  await call('answerOrder', { orderId }, { status: 'G' })
  const invoiceId = (await call('uploadInvoice', { orderId }, file)).invoice.id
  await call('deleteInvoice', { orderId, invoiceId })
} })
await throughPrism('v2', TOKEN, { [BASE]: async (call) => {
  const { orders } = await call('listOrders')
  const [first, second] = orders.filter((order) => order.state === 'registered').map((order) => order.id)
  await call('getOrder', { orderReference: first })
  await call('acceptOrder', { orderReference: first })
  await call('rejectOrder', { orderReference: second }, { status: 'D', reason: 'damaged' })
  await call('answerOrders', {}, [{ orderReference: first, answer: 'accept' }])
  await call('updateOrder', { orderReference: first }, { merchantReference: 'A-1' })
  await call('listOrdersByMerchantReference', { merchantReference: 'A-1' })
  await call('listOrdersWithoutInvoice')
  await call('getCurrentToken')
  await call('setSandboxState', { orderReference: second }, { state: 'rejected-by-merchant' })
  await call('listUnansweredOrders')
  await call('exportOrders')
  const { id } = (await call('uploadInvoice', { orderReference: first }, file)).invoice
  await call('deleteInvoice', { orderReference: first, invoiceId: id })
  const { invoice } = await call('uploadInvoice', { orderReference: first }, file)
  url = invoice.url
  link = (await call('createInvoiceLink', { orderReference: first, invoiceId: invoice.id })).url
  await call('listOrderEvents', { orderReference: first })
  await call('listEvents')
  await call('createToken', {}, { scopes: ['orders:read'] })
  const tokenId = (await call('listTokens')).tokens.at(-1).id
  await call('rotateToken', { tokenId }, {})
  await call('revokeToken', { tokenId })
  await call('createLoginLink', {}, { name: 'Nikos' })
  await webhookCalls(call, {})
} })
await throughPrism('service', TOKEN, { [ADMIN]: (call) => call('metrics'), [BASE]: async (call) => {
  const [region, bucket, , orderReference, filename] = new URL(url).pathname.split('/').slice(2)
  await call('getFile', { region, bucket, orderReference, filename })
  await call('openLink', { link: new URL(link).pathname.split('/').pop() })
  for (const operation of ['healthz', 'readyz', 'securityContact', 'docsIndex']) await call(operation)
  await call('getDocument', { document: 'v2.json' })
  await call('docsList')
  await call('docsSearch')
  await call('docsClients')
  await call('docsClient', { file: 'clients.md' })
  await call('docsGuide', { page: 'first-call' })
  await call('docsReference', { document: 'v2' })
  await call('docsAsset', { asset: 'pages.css' })
} })
await throughPrism('operator', OPERATOR, { [ADMIN]: async (call) => {
  const merchantId = (await call('listMerchants')).merchants[0].id
  await call('createMerchant', {}, { id: merchantId + 1, name: 'Another Store' })
  await call('createOrder', {}, {
    merchantId, reference: 'PRISM-1', createdAt: '2026-11-20T08:15:30Z', total: 990, customer: {}, shippingAddress: {},
    lineItems: [{ id: 1, productName: 'Adapter', unitPrice: 990, quantity: 1 }],
  })
  const orderReference = 'PRISM-1'
  await call('transitionOrder', { merchantId, orderReference }, { state: 'in-processing' })
  await call('updateOrder', { merchantId, orderReference }, { carrier: { trackingCodes: 'T-1' } })
  await call('importOrders', {}, [{ merchantId }])
  await call('transitionOrders', {}, [{ merchantId, reference: orderReference, state: 'ready-for-shipment' }])
  await call('searchOrders')
  await call('exportOrders')
  await call('getOrder', { orderReference })
  await call('getOverview')
  await call('getMerchant', { merchantId })
  await call('updateMerchant', { merchantId }, { limits: { requestsPerSecond: 100, burst: 100 } })
  await call('suspendMerchant', { merchantId: merchantId + 1 }, { reason: 'a check' })
  await call('resumeMerchant', { merchantId: merchantId + 1 })
  await call('createLoginLink', { merchantId }, {})
  await call('createToken', {}, { merchantId, scopes: ['orders:read'] })
  const tokenId = (await call('listTokens')).tokens.at(-1).id
  await call('rotateToken', { tokenId }, {})
  await call('revokeToken', { tokenId })
  await call('revokeTokens', { merchantId: merchantId + 1 })
  await call('exportCustomer', {}, { email: 'nobody@example.com' })
  await call('eraseCustomer', {}, { email: 'nobody@example.com' })
  await call('listAudit')
  await call('listEvents')
  await webhookCalls(call, { merchantId })
  await call('listAllWebhooks')
} })
