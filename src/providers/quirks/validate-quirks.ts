/**
 * Returns the errors in an account's quirks as sentences for the operator, e.g. `quirks.maxTokens
 * must be a whole number.`
 */
import type { JsonObject } from '../../core/json/json.ts'
import { COMMON_QUIRKS } from './common-quirks.ts'
import type { WireName } from '../provider-interface.ts'
import { PROVIDERS } from '../provider-registry.ts'

export function validateQuirks(wire: WireName, quirks: JsonObject): readonly string[] {
  const known = { ...COMMON_QUIRKS, ...PROVIDERS[wire].quirks }
  return Object.entries(quirks).flatMap(([name, value]) => {
    const quirk = Object.hasOwn(known, name) ? known[name] : undefined
    if (quirk === undefined) return [`quirks.${name} is not known to the ${wire} wire.`]
    return quirk.parse(value) === undefined
      ? [`quirks.${name} must be ${quirk.acceptedValues}.`]
      : []
  })
}
