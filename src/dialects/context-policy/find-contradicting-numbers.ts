/**
 * Numbers that one and the same person has said of a context, and that cannot both be meant. Where they
 * come of different people's wishes nobody is at fault: an output is shortened only if less is left of
 * it, and a reserve that leaves nothing is taken for half of the window.
 */
import type { PolicyOverrides } from '../../core/context-policy.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function findContradictingNumbers(
  { outputs, budget }: PolicyOverrides,
  path: string,
): readonly GatewayError[] {
  const { longerThan, head, tail } = outputs ?? {}
  const { window, reserve } = budget ?? {}
  const faults: GatewayError[] = []
  const left = (head ?? 0) + (tail ?? 0)
  if (longerThan !== undefined && left >= longerThan) {
    faults.push(
      refused(
        `${path}.outputs.longer_than`,
        `must be more than what is left over, \`head\` and \`tail\` together (${left}), but is ${longerThan}`,
      ),
    )
  }
  if (typeof window === 'number' && typeof reserve === 'number' && reserve >= window) {
    faults.push(
      refused(
        `${path}.budget.reserve`,
        `must be less than \`window\` (${window}), or nothing is left for the conversation, but is ${reserve}`,
      ),
    )
  }
  return faults
}

function refused(param: string, why: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid '${param}': ${why}.`, { param })
}
