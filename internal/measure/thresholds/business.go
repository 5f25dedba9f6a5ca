package thresholds

// business returns the metrics of the damage that workloads count. They are known only after a run,
// so none of them can end a run.
func business() []Metric {
	return []Metric{
		ofBusiness("sold", "oversell", "units that buyers were told they have, whole run"),
		ofBusiness("gone", "oversell", "units that are missing from the stock in the end"),
		ofBusiness("oversold", "oversell", "units sold that are not missing from the stock: they were not there"),
		ofBusiness("redeemed", "redeem", "points that users were told they have exchanged, whole run"),
		ofBusiness("had", "redeem", "points that users had or earned, and have no more in the end"),
		ofBusiness("overdrawn", "redeem", "points exchanged that are still there: they were exchanged twice"),
		ofBusiness("missing", "redeem", "points that are gone and that nobody has exchanged"),
		ofBusiness("uncertain", "oversell or redeem", "units or points that writes without an answer may have sold or exchanged"),
		ofBusiness("periods", "cron", "periods in which a job began, whole run"),
		ofBusiness("jobs", "cron", "jobs that began, whole run"),
		ofBusiness("repeated", "cron", "periods in which the job ran twice at once, or again within half of the delay"),
	}
}

// ofBusiness returns the metric of a figure that these workloads count.
func ofBusiness(name, workloads, summary string) Metric {
	return Metric{Name: name, Unit: Count, Summary: workloads + ": " + summary, read: func(r *Run) Reading {
		its := r.Measures.Business
		n, known := its.Figure(name)
		switch {
		case known:
			return count(n)
		case its != nil && its.Why != "":
			return nothing("nothing is known of the business: " + its.Why)
		case its != nil:
			return nothing("this workload does not count it; workload " + workloads + " does")
		}
		return nothing("nothing was counted; workload " + workloads + " counts it, in a run that came to its end")
	}}
}
