# Records the stratified rank sum test of the package coin for tests/unit/test_strata.py:
#   Rscript van_elteren.R > van_elteren.json
# coin tests linear statistics of any scores within blocks; ranks within the block over n + 1 make it van Elteren's.
suppressPackageStartupMessages(library(coin))

case <- function(name, score, first, stratum) {
  rank_over_size <- ave(score, stratum, FUN = function(y) rank(y) / (length(y) + 1))
  data <- data.frame(value = rank_over_size, group = factor(first, levels = c(1, 0)), block = factor(stratum))
  test <- independence_test(value ~ group | block, data = data, teststat = "scalar", distribution = "asymptotic")
  numbers <- function(values) paste(values, collapse = ", ")
  sprintf('{"name": "%s", "score": [%s], "first": [%s], "stratum": [%s], "z": %.15g, "p": %.15g}', name,
          numbers(score), numbers(first), numbers(stratum), as.numeric(statistic(test)), as.numeric(pvalue(test)))
}

set.seed(1)
cases <- c(
  case("ties", round(rnorm(60), 1), rbinom(60, 1, 0.5), sample(0:2, 60, replace = TRUE)),
  case("unequal", round(rexp(80) * 100), rep(c(1, 0), c(20, 60)), rep(0:3, 20)),
  case("shifted", c(rpois(30, 5), rpois(30, 2)), rep(c(1, 0), 30) * rep(c(1, 0, 1), 20), rep(0:1, each = 30))
)
cat("[", paste(cases, collapse = ",\n "), "]\n", sep = "")
