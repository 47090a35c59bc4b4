/**
 * Preloaded into a gateway: resolves names without DNS, records the address of every connection in
 * `TORTURE_NETWORK_FILE`, and connects to the server at `TORTURE_NETWORK_PORT` instead. Connections to that port and
 * to `TORTURE_UPSTREAM_PORT` are left alone.
 */
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isIP, Socket, type LookupFunction, type TcpSocketConnectOpts } from 'node:net'
import { readFakeAddresses } from './fake-names.ts'

const {
  TORTURE_NETWORK_FILE: file = '',
  TORTURE_NETWORK_PORT: port,
  TORTURE_UPSTREAM_PORT: upstreamPort,
} = process.env

const lookups = new Map<string, number>()

const lookup: LookupFunction = (name, options, callback) => {
  const count = lookups.get(name) ?? 0
  lookups.set(name, count + 1)
  const found = isIP(name) > 0 ? [name] : readFakeAddresses(name, count)
  const addresses = found.map((address) => ({ address, family: isIP(address) }))
  const [first] = addresses
  setImmediate(() => {
    if (first === undefined) return callback(new Error(`There is no ${name}.`), '', 0)
    if (options.all === true) return callback(null, addresses)
    callback(null, first.address, first.family)
  })
}
Object.assign(dns, { lookup })
syncBuiltinESMExports()

type Connect = (this: Socket, ...parameters: unknown[]) => Socket
const connect = Socket.prototype.connect as Connect
const connectElsewhere: Connect = function (...parameters) {
  const [first] = parameters
  const options = (Array.isArray(first) ? first[0] : first) as Partial<TcpSocketConnectOpts>
  const { host } = options
  const isOwn = [port, upstreamPort].includes(String(options.port))
  if (host === undefined || isOwn) return connect.apply(this, parameters)
  const go = (addresses: readonly string[]): void => {
    appendFileSync(file, addresses.map((address) => `${address}\n`).join(''))
    Object.assign(options, { host: '127.0.0.1', port: Number(port), lookup: undefined })
    connect.apply(this, parameters)
  }
  if (isIP(host) > 0) go([host])
  else {
    const resolve = options.lookup ?? lookup
    resolve(host, { all: true }, (error, addresses) => {
      if (error !== null) return void this.destroy(error)
      go((addresses as readonly { readonly address: string }[]).map(({ address }) => address))
    })
  }
  return this
}
Object.assign(Socket.prototype, { connect: connectElsewhere })
