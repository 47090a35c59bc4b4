/**
 * Values of `include` that need neither an upstream parameter nor a note: the gateway itself adds raw reasoning, and
 * encrypted reasoning if the upstream has any.
 */
export const INCLUDED_WITHOUT_UPSTREAM: ReadonlySet<string> = new Set([
  'reasoning.encrypted_content',
  'reasoning.raw',
])
