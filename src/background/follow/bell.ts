/** Lets one wait for something to happen, or for some time to pass. */
export interface Notifier {
  readonly ring: () => void
  /** `null`: for as long as it takes. What rang before is not heard. */
  readonly wait: (forMs: number | null) => Promise<void>
}

export function createNotifier(): Notifier {
  let ring = (): void => undefined
  return {
    ring: () => ring(),
    wait: (forMs) =>
      new Promise((resolve) => {
        const timer = forMs === null ? null : setTimeout(resolve, forMs)
        ring = () => {
          if (timer !== null) clearTimeout(timer)
          resolve()
        }
      }),
  }
}
