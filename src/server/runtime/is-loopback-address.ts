/** Whether an address, or a host with or without its port, is this very machine. */
export function isLoopbackAddress(address: string): boolean {
  const host = address.startsWith('[')
    ? address.slice(1, address.indexOf(']'))
    : withoutPort(address)
  return (
    host === 'localhost' ||
    host === '::1' ||
    /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  )
}

/** An IPv6 address has several colons, a host with a port has one. */
function withoutPort(address: string): string {
  const colon = address.indexOf(':')
  return colon > 0 && colon === address.lastIndexOf(':') ? address.slice(0, colon) : address
}
