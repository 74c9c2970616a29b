// Package policy has the admission plugins ValidatingAdmissionPolicy and MutatingAdmissionPolicy.
package policy
