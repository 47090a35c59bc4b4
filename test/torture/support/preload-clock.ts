/**
 * Preloaded into a gateway: its clock is ahead by `TORTURE_CLOCK_MS`, or behind if the number is negative. A message
 * of the parent process with the field `clockMs` changes that, as if the clock of the machine were set.
 */

let aheadMs = Number(process.env['TORTURE_CLOCK_MS'] ?? 0)
const now = Date.now
const RealDate = Date

/** Without arguments, the time of the shifted clock. */
class ShiftedDate extends RealDate {
  constructor(...parameters: readonly unknown[]) {
    super(...((parameters.length === 0 ? [now() + aheadMs] : parameters) as [number]))
  }

  static override now(): number {
    return now() + aheadMs
  }
}
globalThis.Date = ShiftedDate as DateConstructor

process.on('message', ({ clockMs }: { readonly clockMs: number }) => {
  aheadMs = clockMs
  process.send?.({})
})
process.channel?.unref()
