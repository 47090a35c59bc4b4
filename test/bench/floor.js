/**
 * The floor that everything is compared with: the least that a proxy on node:http can do. It knows
 * nothing of what passes, forwards a request with another key, and pipes both ways. Plain
 * JavaScript, so that reading types is not in its memory.
 *
 * Usage: node floor.js <port of the upstream>
 */
/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- it has no types */
import { Agent, createServer, request } from 'node:http'

const upstreamPort = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 })

const server = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, host: 'upstream', authorization: 'Bearer sk-up' }
  const { method, url } = incoming
  const to = { host: '127.0.0.1', port: upstreamPort, agent, method, path: url, headers }
  const onward = request(to, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) onward.destroy()
  })
  incoming.pipe(onward)
})
server.listen(0, '127.0.0.1', 4096, () => {
  console.log(`listening on http://127.0.0.1:${Object(server.address()).port}`)
})
process.on('disconnect', () => process.exit())
