import type { Account, WireName } from '../../src/providers/provider-interface.ts'

/** One about which there is nothing to say. */
export function plainAccount(wire: WireName): Account {
  return {
    name: 'a',
    wire,
    baseUrl: 'http://x',
    apiKey: null,
    models: ['*'],
    headers: {},
    quirks: {},
  }
}
