import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import pg from 'pg'

/** The floor of `POST /v1/payments`: Express and one insert. Its first argument is the database's URL. */
const [connectionString = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 10 })
await pool.query(
  'create table bare_payment (id text primary key, body jsonb not null, created_at timestamptz not null)',
)
const app = express()
app.use(express.json())
app.post('/v1/payments', async (request, response) => {
  const payment = { id: randomUUID(), ...request.body }
  const text = 'insert into bare_payment (id, body, created_at) values ($1, $2, now())'
  await pool.query({ name: 'insert', text, values: [payment.id, payment] })
  response.status(201).json(payment)
})
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit(0))
