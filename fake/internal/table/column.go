package table

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// documented is an API type with documentation for each field.
type documented interface{ SwaggerDoc() map[string]string }

// describes returns the documentation of a field.
func describes(of documented, field string) string { return of.SwaggerDoc()[field] }

// named returns the column of the object's name.
func named() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{
		Name: "Name", Type: "string", Format: "name", Description: describes(metav1.ObjectMeta{}, "name"),
	}
}

// age returns the column of the time since the object's creation.
func age() metav1.TableColumnDefinition {
	return text("Age", describes(metav1.ObjectMeta{}, "creationTimestamp"))
}

// created returns the column of the time of the object's creation.
func created() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{
		Name: "Created At", Type: "date", Description: describes(metav1.ObjectMeta{}, "creationTimestamp"),
	}
}

// createdAt returns the cell of the time of an object's creation.
func createdAt(m metav1.Object) string { return m.GetCreationTimestamp().UTC().Format(time.RFC3339) }

func text(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

func number(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "integer", Description: description}
}

func flag(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "boolean", Description: description}
}

// wide returns the column with the priority of columns that are shown with -o wide only.
func wide(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

// containerColumns returns the wide columns of a pod template.
func containerColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		wide(text("Containers", "Names of each container in the template.")),
		wide(text("Images", "Images referenced by each container in the template.")),
	}
}
