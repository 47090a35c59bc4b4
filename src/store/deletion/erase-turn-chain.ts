/**
 * Deletes a turn that is marked as deleted, then its parent if the parent is marked too, and so on, up to a turn that
 * another turn or a conversation needs.
 */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { withDeletableChain, type ChainStart } from './deletable-chain.ts'
import type { ErasureRow } from './erasure-statements.ts'
import type { SizedTurnId, SliceWriter } from './slice-writer-interface.ts'

export function createTurnChainErasureStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    selectChain: compile<ChainStart>(
      'deletable-chain',
      (slot) => sql`${withDeletableChain(slot, sql`1 = 1`)}
        select id, bytes, is_next from deletable order by number`,
    ),
    setNextTurn: compile<
      Pick<ErasureRow, 'id'> & { readonly next: string; readonly firstTurn: string }
    >(
      'move-erasure-on',
      (slot) => sql`update erasures set name = ${slot('next')} where id = ${slot('id')}
        and not exists (select 1 from turns where turns.id = ${slot('firstTurn')})`,
    ),
  }
}

/** Returns a function that deletes what an erasure of a turn covers. */
export function createTurnChainEraser(language: Engine['language']) {
  const statements = createTurnChainErasureStatements(language)
  return async (
    { id, tenant, name }: ErasureRow,
    { engine, deleteTurns }: SliceWriter,
  ): Promise<void> => {
    let first: string | null = name
    while (first !== null) {
      const [rows = []] = await engine.read([statements.selectChain({ tenant, id: first })])
      const chain = rows as readonly (SizedTurnId & { readonly is_next: number })[]
      const next: string | null = chain.find(({ is_next: isNext }) => isNext === 1)?.id ?? null
      const turns = chain.filter(({ is_next: isNext }) => isNext === 0)
      // The erasure names the turn at which another run would begin. That turn is deleted now, so the same transaction
      // replaces it with the next one.
      const last = next === null ? [] : [statements.setNextTurn({ id, next, firstTurn: first })]
      // With 0 bytes, all turns are in one list, which one transaction deletes.
      await deleteTurns(
        tenant,
        turns.map((turn) => ({ ...turn, bytes: 0 })),
        last,
      )
      first = next
    }
  }
}
