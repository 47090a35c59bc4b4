/** True if an address or host (`127.0.0.1`, `localhost:8787`, `[::1]:8787`) is this machine. */
export function isLoopbackAddress(address: string): boolean {
  // Nothing but a port may follow the brackets: `[::1].example.com` is a name.
  const host = /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? removePort(address)
  return (
    host === 'localhost' ||
    host === '::1' ||
    /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  )
}

/**
 * True if the `Origin` of a web page is this machine. Apps with an own scheme (`capacitor://localhost`)
 * are no web pages of this machine: each app may choose the same name.
 */
export function isLocalWebPage(origin: string): boolean {
  const url = URL.parse(origin)
  return url !== null && /^https?:$/.test(url.protocol) && isLoopbackAddress(url.host)
}

/**
 * Removes the port of `host:port`. A text with several colons is an IPv6 address without a port.
 */
function removePort(address: string): string {
  const colon = address.indexOf(':')
  return colon > 0 && colon === address.lastIndexOf(':') ? address.slice(0, colon) : address
}
