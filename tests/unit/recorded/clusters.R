# Records cluster-robust variances of the package clubSandwich for tests/unit/test_pooled.py:
#   Rscript clusters.R > clusters.json
# Of the type CR3, which leaves out each cluster in turn: of a mean of paired differences, of the difference of two
# groups that share clusters, and of one with a stratum's effect. With Satterthwaite's degrees of freedom of the mean.
suppressPackageStartupMessages(library(clubSandwich))

numbers <- function(values) paste(sprintf("%.15g", values), collapse = ", ")

case <- function(name, score, cluster, group = NULL) {
  model <- if (is.null(group)) lm(score ~ 1) else lm(score ~ group)
  robust <- vcovCR(model, cluster = cluster, type = "CR3")
  last <- nrow(robust)
  test <- coef_test(model, robust, test = "Satterthwaite")
  sprintf('{"name": "%s", "score": [%s], "cluster": [%s], "group": [%s], "variance": %.15g, "degrees": %.15g}', name,
          numbers(score), numbers(cluster), if (is.null(group)) "" else numbers(group), robust[last, last],
          test$df_Satt[last])
}

set.seed(1)
sizes <- rep(1:10, times = c(1, 2, 2, 3, 4, 5, 6, 8, 9, 10))
both <- rep(1:12, times = c(2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 9))
group <- unlist(lapply(table(both), function(n) rep(0:1, length.out = n)))
cases <- c(
  case("one size", round(rnorm(40), 2), rep(1:8, each = 5)),
  case("unequal sizes", round(rnorm(50) + rnorm(10)[sizes], 2), sizes),
  case("both groups", round(rnorm(56) + rnorm(12)[both], 2), both, group)
)
cat("[", paste(cases, collapse = ",\n "), "]\n", sep = "")
