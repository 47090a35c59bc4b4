import type { Account, WireName } from '../../src/provider/provider.ts'

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
