/** True if an address or host (`127.0.0.1`, `localhost:8787`, `[::1]:8787`) is this machine. */
export function isLoopbackAddress(address: string): boolean {
  const host = address.startsWith('[')
    ? address.slice(1, address.indexOf(']'))
    : removePort(address)
  return (
    host === 'localhost' ||
    host === '::1' ||
    /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  )
}

/**
 * Removes the port of `host:port`. A text with several colons is an IPv6 address without a port.
 */
function removePort(address: string): string {
  const colon = address.indexOf(':')
  return colon > 0 && colon === address.lastIndexOf(':') ? address.slice(0, colon) : address
}
