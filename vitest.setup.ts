import fc from "fast-check";

// Property tests draw the same cases in every run, so that a failure is the change's and not chance's. To look further:
// RANKSIM_TEST_SEED=$RANDOM npx vitest run packages/core/test/properties
fc.configureGlobal({ seed: Number(process.env.RANKSIM_TEST_SEED ?? 20_211_109) });
