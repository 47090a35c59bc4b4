/**
 * Names that contain the addresses to which they resolve, so that a gateway in another process resolves them
 * without DNS: `n10-0-0-1.ssrf.example` is 10.0.0.1.
 */
import { BlockList, isIPv6 } from 'node:net'

export const PUBLIC_ADDRESS = '93.184.216.34'

/** `all`: a name with all these addresses. `changing`: a name that has another one of them at each lookup. */
export function createFakeName(kind: 'all' | 'changing', addresses: readonly string[]): string {
  const encoded = addresses.join('y').replaceAll('.', '-').replaceAll(':', 'x')
  return `${kind === 'all' ? 'n' : 'r'}${encoded}.ssrf.example`
}

/** Returns the addresses at a lookup, counted from 0; empty for an unknown name. */
export function readFakeAddresses(name: string, count: number): readonly string[] {
  if (/^public\.example\.?$/i.test(name)) return [PUBLIC_ADDRESS]
  const [, kind, encoded = ''] = /^([nr])([\w-]+)\.ssrf\.example\.?$/i.exec(name) ?? []
  if (kind === undefined) return []
  const addresses = encoded.split('y').map((one) => one.replaceAll('-', '.').replaceAll('x', ':'))
  return kind === 'n' ? addresses : [addresses[count % addresses.length] ?? '']
}

/** True for addresses that no client may have the gateway connect to. Written independently of the gateway's check. */
export function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

const PRIVATE = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12],
  ['192.0.0.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['224.0.0.0', 4], ['240.0.0.0', 4],
] as const) PRIVATE.addSubnet(network, prefix, 'ipv4') // prettier-ignore
for (const [network, prefix] of [
  ['::', 96], ['64:ff9b::', 96], ['64:ff9b:1::', 48], ['100::', 64], ['2001::', 32], ['2002::', 16],
  ['fc00::', 7], ['fe80::', 10], ['fec0::', 10], ['ff00::', 8],
] as const) PRIVATE.addSubnet(network, prefix, 'ipv6') // prettier-ignore
