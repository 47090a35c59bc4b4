/**
 * Program for tests that kill it: writes turns to the store of a URL, four at a time, and prints
 * `opened ID` or `closed ID` once the store has confirmed the write.
 *
 * node append-turns.ts URL COUNT
 */
import { openTurnStore } from '../../src/store/database/open-engine.ts'
import { assistant, createEnding, newTurn, numberItems, user } from './turns.ts'

const [url = '', count = ''] = process.argv.slice(2)
const store = await openTurnStore(url)
let left = Number(count)

async function append(): Promise<void> {
  while (left-- > 0) {
    const turn = newTurn()
    await store.openTurn({ ...turn, input: [user(`asked in ${turn.id}`)] })
    process.stdout.write(`opened ${turn.id}\n`)
    await store.journalItems(turn, numberItems([assistant('one')]))
    await store.closeTurn(createEnding(turn, { items: numberItems([assistant('two')], 1) }))
    process.stdout.write(`closed ${turn.id}\n`)
  }
}

await Promise.all([append(), append(), append(), append()])
await store.close()
