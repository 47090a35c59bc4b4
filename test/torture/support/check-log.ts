/** Finds errors in the log of a gateway that it did not expect: each is a mistake of the gateway. */
import type { ChildGateway } from '../../support/child-gateway.ts'
import type { Faults } from './fault-list.ts'

export function checkLog(gateway: ChildGateway, faults: Faults): void {
  const lines = gateway.output().split('\n')
  for (const line of lines.filter((text) => text.includes('"unexpected"'))) {
    faults.add('failed', line.slice(0, 600))
  }
}
