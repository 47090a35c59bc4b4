import { soak } from './soak.ts'

soak(3)
