import { createServer } from 'node:http'

// A receiver that accepts everything at once, in a separate process: its CPU is not the sender's.
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(204).end())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
