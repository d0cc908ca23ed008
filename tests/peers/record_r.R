# What R's tests say of the scores in r_scores.csv: writes r.csv, a row for each number, and the versions.
#
#     Rscript tests/peers/record_r.R
#
# In Debian: r-base-core, r-cran-coin and r-bioc-multtest. R is no part of the project: the numbers are recorded.

folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
scores <- read.csv(file.path(folder, "r_scores.csv"))
found <- data.frame(test = character(), comparison = integer(), value = double())
say <- function(test, values) {
  found <<- rbind(found, data.frame(test = test, comparison = seq_along(values) - 1, value = values))
}

# Pairs: the sign test of decided units, its limits, and the adjustment over both sides.
pairs <- scores[scores$kind == "pairs", ]
names <- c("first", "second", "third", "fourth")
differences <- sapply(names, function(name) pairs[pairs$group == "a", name] - pairs[pairs$group == "b", name])
wins <- colSums(differences > 0)
losses <- colSums(differences < 0)
tests <- function(alternative) mapply(function(w, l) binom.test(w, w + l, alternative = alternative)$p.value, wins, losses)
limits <- mapply(function(w, l) binom.test(w, w + l)$conf.int, wins, losses)
say("more for a", tests("greater"))
say("more for b", tests("less"))
say("low", limits[1, ])
say("high", limits[2, ])
say("coin", sapply(names, function(name) {
  a <- pairs[pairs$group == "a", name]
  b <- pairs[pairs$group == "b", name]
  coin::pvalue(coin::sign_test(a ~ b, distribution = "exact"))
}))
both <- c(tests("greater"), tests("less"))
say("holm", pmin(p.adjust(both, "holm")[1:4], p.adjust(both, "holm")[5:8]))
say("hommel", p.adjust(both, "hommel"))

# All joint flips of twelve decided units, and of a tie, without which t has no value where all units are won.
signs <- cbind(sign(t(differences[1:12, ]) + c(1.5, -1.5, 1.5, 0.5)), 0)
forms <- t(apply(signs, 1, function(row) as.vector(rbind(0, row))))
invisible(capture.output(flips <- multtest::mt.maxT(forms, rep(c(0, 1), 13), test = "pairt", B = 0)))
say("flips", flips$adjp[order(flips$index)])

# Texts: which group is among the worst more often, within strata; and Wilcoxon's deviate.
texts <- scores[scores$kind == "texts", ]
worst <- function(name, alternative) {
  bad <- rank(texts[[name]], ties.method = "max") <= 0.1 * nrow(texts)
  counts <- table(texts$group, factor(bad, c(TRUE, FALSE)), texts$stratum)
  mantelhaen.test(counts, exact = TRUE, alternative = alternative)$p.value
}
say("worst more for a", sapply(names, worst, "greater"))
say("worst more for b", sapply(names, worst, "less"))
say("wilcoxon", sapply(names, function(name) {
  coin::statistic(coin::wilcox_test(texts[[name]] ~ factor(texts$group)), "standardized")
}))

versions <- sapply(c("coin", "multtest"), function(name) as.character(packageVersion(name)))
say(paste("R", getRversion(), paste(names(versions), versions, collapse = " ")), 0)
write.csv(found, file.path(folder, "r.csv"), row.names = FALSE)
