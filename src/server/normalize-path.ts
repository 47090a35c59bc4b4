/**
 * A path without what base URLs put around it by mistake: a slash too many, or `/v1` twice. What is
 * asked for is plain, and would be looked for upstream otherwise, past all that the gateway is for.
 */
export function normalizePath(path: string): string {
  if (!ODD.test(path)) return path
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/^(?:\/v1)+(?=\/v1\/)/, '')
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
}

const ODD = /\/\/|.\/$|^\/v1\/v1\//
